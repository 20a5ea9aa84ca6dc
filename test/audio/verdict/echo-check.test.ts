import { expect, test } from 'vitest';
import { EchoCheck } from '../../../src/audio/verdict/echo-check.ts';
import { bytesForMs } from '../../../src/protocol/audio-format.ts';
import { createRandom } from '../../../src/service/random.ts';

const random = createRandom(7).sequence();
/** What the user says: a rough sound that is like itself at no other moment. */
const words = Buffer.alloc(bytesForMs(10_000));
let level = 0;
for (let at = 0; at < words.length; at += 2) {
  level = 0.9 * level + 4_000 * (random() - 0.5);
  words.writeInt16LE(Math.round(level), at);
}
const frame = (ms: number) => words.subarray(bytesForMs(ms), bytesForMs(ms + 20));

/** The moments at which an echo is found, if what the user said so long ago comes back. */
function listen(check: EchoCheck, delayMs: number, fromMs = 0): number[] {
  const found: number[] = [];
  for (let ms = fromMs; ms < fromMs + 4_000; ms += 20) {
    check.said(frame(ms), ms + 20);
    const heard = ms - delayMs < 0 ? Buffer.alloc(640) : frame(ms - delayMs);
    if (check.heard(heard, ms + 20) !== undefined) found.push(ms + 20);
  }
  return found;
}

test.each([0, 200])('an echo %i ms later is certain in the second window that says the same', (delayMs) => {
  expect(listen(new EchoCheck(), delayMs)[0]).toBeGreaterThan(1_900);
});

test('an echo is found after a reply that was sent ahead was dropped', () => {
  const check = new EchoCheck();
  for (let ms = 0; ms < 4_000; ms += 20) check.heard(Buffer.alloc(640), 20);
  check.interrupted(100);
  expect(listen(check, 200, 100).length).toBeGreaterThan(1);
});

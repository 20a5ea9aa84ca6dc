import { expect, test } from 'vitest';
import { createEchoCanceller } from '../../src/audio/echo-canceller.ts';
import { measureLevel } from '../../src/audio/level.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';
import { fixturePcm } from '../helpers/fixtures.ts';
import { framesOf, silence } from '../helpers/pcm.ts';

/** Every sample so much quieter, and later. */
function echoOf(pcm: Buffer, gain: number, delayMs: number): Buffer {
  const echo = Buffer.alloc(pcm.length);
  for (let at = bytesForMs(delayMs); at < pcm.length; at += 2) {
    echo.writeInt16LE(Math.round(pcm.readInt16LE(at - bytesForMs(delayMs)) * gain), at);
  }
  return echo;
}

function mix(a: Buffer, b: Buffer): Buffer {
  const mixed = Buffer.from(a);
  for (let at = 0; at < b.length; at += 2)
    mixed.writeInt16LE(Math.max(-32_768, Math.min(32_767, a.readInt16LE(at) + b.readInt16LE(at))), at);
  return mixed;
}

const ai = Buffer.concat(Array.from({ length: 4 }, () => fixturePcm('hello.wav')));

/** What is sent of a microphone that hears this. */
async function cancel(played: Buffer, heard: Buffer): Promise<Buffer> {
  const canceller = await createEchoCanceller();
  const frames = framesOf(played);
  return Buffer.concat(
    framesOf(heard).map((pcm, index) => {
      canceller.played(frames[index]!);
      return canceller.clean(pcm);
    }),
  );
}

test.each([80, 350])('an echo %i ms later is removed', async (delayMs) => {
  const played = ai.subarray(0, ai.length / 2);
  const heard = echoOf(played, 0.3, delayMs);
  const clean = await cancel(played, heard);
  expect(heard.length - clean.length).toBeLessThan(bytesForMs(10));
  const half = heard.length / 2 - ((heard.length / 2) % 2);
  const removed = measureLevel(heard.subarray(half)).rmsDbfs - measureLevel(clean.subarray(half)).rmsDbfs;
  expect(removed).toBeGreaterThan(25);
});

test('the voice of the user is kept, even while the AI speaks', async () => {
  const said = fixturePcm('question.wav');
  const at = bytesForMs(4_500);
  const user = Buffer.concat([silence(4_500), said, Buffer.alloc(ai.length - at - said.length)]);
  const clean = await cancel(ai, mix(echoOf(ai, 0.2, 150), user));
  const kept = measureLevel(clean.subarray(at, at + said.length)).rmsDbfs;
  expect(Math.abs(kept - measureLevel(said).rmsDbfs)).toBeLessThan(6);
});

test('if nothing is played, the microphone passes unchanged', async () => {
  const said = fixturePcm('question.wav');
  const clean = await cancel(silence(3_000), said.subarray(0, bytesForMs(3_000)));
  expect(
    Math.abs(measureLevel(clean).rmsDbfs - measureLevel(said.subarray(0, bytesForMs(3_000))).rmsDbfs),
  ).toBeLessThan(1);
});

test('handlers for errors of the whole process do not change', async () => {
  const before = process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException');
  await createEchoCanceller();
  expect(process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException')).toBe(
    before,
  );
});

import { expect, test } from 'vitest';
import { createEchoWatch } from '../../src/devices/echo-watch.ts';
import { createNotices, type DeviceNotice } from '../../src/devices/notices.ts';
import { fixturePcm } from '../helpers/fixtures.ts';
import { framesOf, silence } from '../helpers/pcm.ts';

const hello = Buffer.concat(Array.from({ length: 4 }, () => fixturePcm('hello.wav')));
const question = Buffer.concat(Array.from({ length: 8 }, () => fixturePcm('question.wav'))).subarray(
  0,
  hello.length,
);

/** Frames of 20 ms, played and heard in step. */
function notice(played: Buffer, heard: Buffer): DeviceNotice[] {
  const told: DeviceNotice[] = [];
  const notices = createNotices();
  notices.listen((one) => told.push(one));
  const watch = createEchoWatch(notices);
  const frames = framesOf(heard);
  for (const [index, frame] of framesOf(played).entries()) {
    watch.played(frame);
    const pcm = frames[index];
    if (pcm !== undefined) watch.heard(pcm);
  }
  return told;
}

function quieter(pcm: Buffer, gain: number): Buffer {
  const quiet = Buffer.alloc(pcm.length);
  for (let at = 0; at < pcm.length; at += 2) quiet.writeInt16LE(Math.round(pcm.readInt16LE(at) * gain), at);
  return quiet;
}

test('an AI that hears itself is reported once, with delay and level', () => {
  const heard = Buffer.concat([silence(180), quieter(hello, 0.1)]);
  expect(notice(hello, heard)).toEqual([
    {
      code: 'echo',
      message: expect.stringMatching(/^The AI hears itself: .* loudspeaker 180 ms later, 20 dB quieter$/),
      hint: expect.stringContaining('--aec'),
    },
  ]);
});

test.each([0, 5, 10, 19, 25])('an echo with a delay of %d ms is found', (pathMs) => {
  const heard = Buffer.concat([silence(pathMs), quieter(hello, 0.1)]);
  expect(notice(hello, heard)).toMatchObject([
    { message: expect.stringContaining(`the loudspeaker ${pathMs} ms later`) },
  ]);
});

test.each([
  ['the user speaks while the AI does', hello, question],
  ['headphones let nothing through', hello, silence(10_000)],
  ['the AI repeats what the user says', Buffer.concat([silence(100), hello]), hello],
  ['nothing is played', silence(10_000), hello],
])('nothing is reported if %s', (_, played, heard) => {
  expect(notice(played, heard)).toEqual([]);
});

test('an echo in equally loud noise is found', () => {
  const heard = Buffer.concat([silence(120), quieter(hello, 0.3)]);
  let state = 7;
  for (let at = 0; at < heard.length; at += 2) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const noise = (state / 2 ** 31 - 1) * 300;
    heard.writeInt16LE(Math.max(-32_768, Math.min(32_767, heard.readInt16LE(at) + Math.round(noise))), at);
  }
  expect(notice(hello, heard)).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { createTwoTracks } from '../../src/audio/dialogue/two-tracks.ts';
import { type EchoKind, UserEchoDetector } from '../../src/audio/user-echo.ts';
import { createServiceVoice } from '../../src/audio/verdict/service-voice.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';
import { judgeAudio } from '../../src/rules/reply-audio.ts';
import type { SeenStream } from '../../src/rules/stream-seen.ts';
import { createRandom } from '../../src/service/random.ts';
import { encodings, speechAt } from '../helpers/device-audio.ts';
import { connects } from '../helpers/device-exchanges.ts';
import { framesOf } from '../helpers/pcm.ts';

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
function listen(check: UserEchoDetector, delayMs: number, fromMs = 0): number[] {
  const found: number[] = [];
  for (let ms = fromMs; ms < fromMs + 4_000; ms += 20) {
    check.said(frame(ms), ms + 20);
    const heard = ms - delayMs < 0 ? Buffer.alloc(640) : frame(ms - delayMs);
    if (check.heard(heard, ms + 20) !== undefined) found.push(ms + 20);
  }
  return found;
}

test.each([0, 200])('an echo %i ms later is certain in the second window with the same delay', (delayMs) => {
  expect(listen(new UserEchoDetector(), delayMs)[0]).toBeGreaterThan(1_900);
});

test('an echo is found after a reply that was sent ahead was dropped', () => {
  const check = new UserEchoDetector();
  for (let ms = 0; ms < 4_000; ms += 20) check.heard(Buffer.alloc(640), 20);
  check.interrupted(100);
  expect(listen(check, 200, 100).length).toBeGreaterThan(1);
});

const question = speechAt(16_000).subarray(0, bytesForMs(3_900));
const answer = speechAt(16_000, 'answer.wav');
const quieter = (pcm: Buffer, db: number) => {
  const changed = Buffer.from(pcm);
  for (let at = 0; at + 1 < pcm.length; at += 2)
    changed.writeInt16LE(Math.round(pcm.readInt16LE(at) * 10 ** (db / 20)), at);
  return changed;
};
const silence = (ms: number) => Buffer.alloc(bytesForMs(ms));
const said = Buffer.concat([silence(200), question, silence(1_000)]);

interface Call {
  said: Buffer;
  /** What the service sends at the time of each frame of the user; undefined: nothing. */
  heard: (index: number) => Buffer | undefined;
}

/** Frames of the user's, so much later. */
const later = (pcm: Buffer, ms: number) => {
  const frames = framesOf(Buffer.concat([silence(ms), pcm]));
  return (index: number) => frames[index];
};

/** What everybody who asks says of this call. */
function ask({ said: user, heard }: Call) {
  let now = 0;
  const back = new UserEchoDetector();
  const news: string[] = [];
  const voice = createServiceVoice(({ finding }) => news.push(finding));
  const tracks = createTwoTracks();
  const messages: { at: number; from: 'device' | 'service'; data: Buffer }[] = [];
  for (const [index, frame] of framesOf(user).entries()) {
    now += 20;
    back.said(frame, now);
    voice.sent(frame, now);
    tracks.sent(frame, now);
    messages.push({ at: now, from: 'device', data: frame });
    const reply = heard(index);
    if (reply === undefined) continue;
    back.heard(reply, now);
    voice.received(reply, now);
    tracks.received(reply, now);
    messages.push({ at: now, from: 'service', data: reply });
  }
  now += 3_000;
  voice.end(now);
  const exchange = connects({
    messages: messages.map((one) => ({ ...one, opcode: 'binary' as const, bytes: one.data.length })),
    end: { at: now, by: 'device' },
  });
  return {
    is: back.is,
    voice: voice.summary().unjudged,
    dialogue: tracks.judge(5_000).unjudged,
    rule: judgeAudio({ id: 'S1', exchange } as SeenStream)?.verdict,
    kinds: voice.summary().findings,
    news,
  };
}

const echoes = 'the service echoes what it hears';
const framesSaid = framesOf(said);

test.each<[what: string, call: Call, is: EchoKind | undefined]>([
  ['an echo', { said, heard: later(said, 40) }, 'echo'],
  ['an echo 200 ms later and 10 dB softer', { said, heard: later(quieter(said, -10), 200) }, 'echo'],
  ['an echo in messages of other sizes', { said, heard: later(said, 55) }, 'echo'],
  [
    'an echo of every second frame',
    { said, heard: (at) => (at % 2 === 0 ? framesSaid[at] : undefined) },
    'echo',
  ],
  ['an echo that begins after 3 s', { said, heard: (at) => (at < 150 ? undefined : framesSaid[at]) }, 'echo'],
  [
    'the words of the user, when they have ended',
    { said: Buffer.concat([question, silence(6_000)]), heard: later(question, question.length / 32 + 700) },
    'repeat',
  ],
  [
    'a reply of its own',
    { said: Buffer.concat([question, silence(6_000)]), heard: later(answer, question.length / 32 + 700) },
    undefined,
  ],
])('%s is the same for every judge', (_, call, is) => {
  const dialogue = is === 'echo' ? echoes : null;
  const voice = is === 'repeat' ? 'the service repeats what it hears' : dialogue;
  expect(ask(call)).toEqual({ is, voice, dialogue, rule: 'pass', kinds: [], news: [] });
});

test('a reply with an echo is not a service that only echoes', () => {
  const reply = later(answer, said.length / 32);
  const echo = later(quieter(said, -12), 150);
  const user = Buffer.concat([said, silence(6_000)]);
  const heard = (at: number) => (at < framesSaid.length ? echo(at) : reply(at));
  expect(ask({ said: user, heard })).toMatchObject({
    ...{ is: undefined, voice: null, dialogue: null },
    // It could have been an echo until the reply came.
    ...{ kinds: ['user-echo'], news: ['user-echo'] },
  });
});

test('an echo in addition to a reply that repeats the user is reported', () => {
  const repeat = later(question, said.length / 32 + 200);
  const echo = later(quieter(said, -12), 150);
  const user = Buffer.concat([said, silence(7_000)]);
  const heard = (at: number) => (at < framesSaid.length ? echo(at) : repeat(at));
  expect(ask({ said: user, heard })).toMatchObject({
    ...{ is: 'repeat', voice: 'the service repeats what it hears', dialogue: null },
    ...{ kinds: ['user-echo'], news: ['user-echo'] },
  });
});

test('wrong audio that comes back is not held against the service', () => {
  const swapped = encodings.swapped();
  expect(ask({ said: swapped, heard: later(swapped, 40) })).toMatchObject({
    ...{ is: 'echo', voice: echoes, rule: 'unknown', kinds: [], news: [] },
  });
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTwoTracks } from '../../../src/audio/dialogue/two-tracks.ts';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { framesOf, speech } from '../../helpers/pcm.ts';

const fixture = (name: string) =>
  loadPcm(join(import.meta.dirname, '..', '..', '..', 'fixtures', `${name}.wav`));

/** Plays a question at 100 ms and its answer at 4.5 s, in messages of these bytes. */
async function play(bytes: number, ahead: number) {
  const tracks = createTwoTracks();
  const send = (pcm: Buffer, fromMs: number, take: (pcm: Buffer, t: number) => void, speed: number) => {
    for (let at = 0; at < pcm.length; at += bytes)
      take(pcm.subarray(at, at + bytes), fromMs + at / 32 / speed);
  };
  send(await fixture('question'), 100, tracks.sent, 1);
  send(await fixture('answer'), 4_500, tracks.received, ahead);
  return tracks;
}

test('figures do not depend on the sizes of messages, nor on how far ahead they come', async () => {
  const whole = (await play(640, 1)).judge(10_000);
  expect(whole.turns).toHaveLength(1);
  expect((await play(331, 1)).judge(10_000)).toEqual(whole);
  expect((await play(640, 20)).judge(10_000)).toEqual(whole);
});

test('audio that was not yet heard when the service was interrupted is dropped', async () => {
  const tracks = await play(640, 20);
  tracks.interrupted(5_200);
  const [speech] = tracks.judge(10_000).ai;
  expect(speech).toMatchObject({ end: 'cut' });
  expect(speech?.endMs).toBeLessThanOrEqual(5_200);
});

test.each([2, 0.5, 'max'] as const)('audio that was sent at a pace of %s is not judged', (pace) => {
  const tracks = createTwoTracks({ pace });
  tracks.sent(speech(1_000), 0);
  tracks.received(speech(1_000), 500);
  const { unjudged, turns, overlaps, figures } = tracks.judge(10_000);
  expect([unjudged, turns, overlaps]).toEqual(['the audio was not sent in real time', [], []]);
  expect(figures).toMatchObject({ earlyReplies: 0, talkOverMs: 0 });
});

test('an echo is not judged', () => {
  const tracks = createTwoTracks({ returned: () => 'echo' });
  tracks.sent(speech(1_000), 0);
  expect(tracks.judge(10_000)).toMatchObject({ unjudged: 'the service echoes what it hears', turns: [] });
});

test('a late message is heard late, and so are later ones', () => {
  const tracks = createTwoTracks();
  const tone = Buffer.alloc(32_000);
  for (let at = 0; at < 16_000; at += 1) tone.writeInt16LE(Math.round(8_000 * Math.sin(at * 0.1)), at * 2);
  for (const [index, frame] of framesOf(tone).entries())
    tracks.received(frame, 1_000 + index * 20 + (index < 25 ? 0 : 200));
  tracks.sent(Buffer.alloc(320_000), 0);
  expect(tracks.judge(10_000).ai).toEqual([{ startMs: 1_000, endMs: 2_200, end: 'cut' }]);
});

test('what is older than what is judged is forgotten, even if nothing is judged for long', () => {
  const tracks = createTwoTracks({ keepMs: 5_000 });
  const second = Buffer.alloc(32_000);
  for (let t = 0; t < 60_000; t += 1_000) (t % 2_000 === 0 ? tracks.sent : tracks.received)(second, t);
  expect(tracks.keptFromMs).toBeGreaterThanOrEqual(49_000);
  expect(tracks.keptFromMs).toBeLessThanOrEqual(54_000);
});

import { describe, expect, test } from 'vitest';
import { createTwoTracks } from '../../src/audio/dialogue/two-tracks.ts';
import { readPeaks } from '../../src/commands/inspect/run.ts';
import type { BundleWriter } from '../../src/recording/bundle-writer.ts';
import { readDialogue, readTimeline } from '../../src/recording/timeline.ts';
import { manifest, setUpBundles } from '../helpers/bundles.ts';
import { framesOf, silence, speech } from '../helpers/pcm.ts';
import { makeSummary } from '../helpers/summaries.ts';

const bundles = setUpBundles();

type Spoken = [direction: 'out' | 'in', t: number, pcm: Buffer];

/** Writes what both say, in frames in the order of their times. */
function speak(writer: BundleWriter, ...spoken: Spoken[]): void {
  const frames = spoken.flatMap(([direction, t, pcm]) =>
    framesOf(pcm).map((frame, index) => ({ direction, t: t + index * 20, frame })),
  );
  for (const { direction, t, frame } of frames.toSorted((a, b) => a.t - b.t))
    writer.audio(direction, t, frame);
}

describe('turns', () => {
  test('of both voices are placed where they were heard, and a reply has its delay', async () => {
    const recording = await bundles.write((writer) => {
      speak(
        writer,
        ['out', 100, Buffer.concat([silence(400), speech(1_000), silence(3_000)])],
        ['in', 2_100, speech(800)],
      );
    });
    expect(readTimeline(recording).turns).toEqual([
      { voice: 'out', startMs: 500, endMs: 1_500, afterMs: null, bargeIn: false },
      { voice: 'in', startMs: 2_100, endMs: 2_900, afterMs: 600, bargeIn: false },
    ]);
  });

  test('that talk over the AI are marked as barge-in', async () => {
    const recording = await bundles.write((writer) => {
      const said = Buffer.concat([silence(1_000), speech(1_000), silence(1_000)]);
      speak(writer, ['in', 0, speech(3_000)], ['out', 0, said]);
    });
    expect(readTimeline(recording).turns).toMatchObject([
      { voice: 'in', bargeIn: false, afterMs: null },
      { voice: 'out', bargeIn: true },
    ]);
  });
});

test('gaps are where AI audio was late within a reply, not between replies', async () => {
  const recording = await bundles.write((writer) => {
    speak(writer, ['in', 0, speech(400)]);
    speak(writer, ['in', 700, speech(400)]);
    speak(writer, ['in', 3_000, speech(400)]);
  });
  expect(readTimeline(recording).gaps).toEqual([{ startMs: 400, endMs: 700 }]);
});

test('a pause in which the user speaks is not a gap, nor is a pause after an interruption', async () => {
  const recording = await bundles.write((writer) => {
    speak(writer, ['in', 0, speech(600)]);
    speak(writer, ['out', 0, Buffer.concat([silence(500), speech(500), silence(3_000)])]);
    // The answer comes before the gate tells that the speech has ended at 1,000.
    speak(writer, ['in', 1_300, speech(400)]);
    writer.wire({ t: 1_700, type: 'text', text: '{"type":"interrupted"}' });
    speak(writer, ['in', 2_000, speech(400)]);
    speak(writer, ['in', 2_600, speech(400)]);
  });
  expect(readTimeline(recording).gaps).toEqual([{ startMs: 2_400, endMs: 2_600 }]);
});

test('peaks are the loudest value of each column, over the whole time', () => {
  const pcm = Buffer.alloc(8);
  pcm.writeInt16LE(-32_768, 0);
  pcm.writeInt16LE(16_384, 6);
  expect(readPeaks(pcm, 16, 4)).toEqual([1, 0.5, 0, 0]);
});

test.each([
  [2_000, 'unanswered'],
  [10_000, 'open'],
])(
  'a turn without a reply is judged by how long its session waited: after %d ms it is %s',
  async (waitMs, reply) => {
    const recording = await bundles.write(
      (writer) =>
        speak(writer, ['in', 0, speech(100)], ['out', 500, Buffer.concat([speech(1_000), silence(3_500)])]),
      { endMs: 5_000, summary: makeSummary({ dialogue: createTwoTracks().judge(waitMs) }) },
    );
    expect(readDialogue(recording).turns.at(-1)?.reply).toBe(reply);
  },
);

test('turn-taking in a recording is not judged if its session did not send in real time', async () => {
  const { version, device, baseUrl, wsUrl, source } = manifest;
  const unjudgedAt = async (pace: 2 | 'max' | undefined) => {
    const recording = await bundles.write((writer) => {
      const session = { version, device, baseUrl, wsUrl, source, format: 's16le' };
      writer.event({ t: 0, type: 'session', ...session, ...(pace === undefined ? {} : { pace }) });
      speak(writer, ['out', 0, Buffer.concat([speech(1_000), silence(1_000)])]);
    });
    return readDialogue(recording).unjudged;
  };
  expect(await unjudgedAt(undefined)).toBeNull();
  for (const pace of [2, 'max'] as const)
    expect(await unjudgedAt(pace)).toBe('the audio was not sent in real time');
});

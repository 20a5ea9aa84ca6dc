import { expect, test } from 'vitest';
import { recordingView } from '../../src/page/recording-view.ts';
import type { Recording } from '../../src/recording/read-recording.ts';
import { makeSummary } from '../helpers/summaries.ts';

const audio = { out: Buffer.alloc(0), in: Buffer.alloc(0) };
const timeline = { durationMs: 1, turns: [], gaps: [] };

test('what was spoken is what the summary says, where a key in pieces was removed', () => {
  const delta = (t: number, text: string) => {
    const body = { type: 'transcript.delta', delta: text };
    return { t, type: 'message', category: 'other', kind: body.type, body };
  };
  const recording = {
    ...{
      events: [delta(1, 'your key is canary-'), delta(2, 'key-1')],
      wire: [],
      problems: [],
      durationMs: 1,
    },
    audio,
  };
  const transcript = [{ t: 1, who: null, text: 'your key is [redacted] \u001b' }];
  const view = (summary: unknown) => recordingView({ ...recording, summary } as never, timeline).spoken;
  expect(view(makeSummary({ transcript }))).toEqual([
    { t: 1, who: null, text: 'your key is [redacted] \\u001b' },
  ]);
  // One that broke off.
  expect(view(undefined)).toMatchObject([{ text: 'your key is canary-key-1' }]);
});

test('an expectation that could not be judged is neither passed nor failed', () => {
  const one = { expected: 'clean audio', measured: 'x' };
  const summary = makeSummary({
    verdicts: [
      { ...one, name: 'held', ok: true },
      { ...one, name: 'broken', ok: false, kind: 'unclean-audio' },
      { ...one, name: 'unseen', ok: true, skipped: true },
    ],
  });
  const recording = {
    ...{ summary, events: [], wire: [], problems: [], durationMs: 1 },
    audio,
  } as never as Recording;
  const { verdicts } = recordingView(recording, timeline);
  expect(verdicts.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['held', 'pass'],
    ['broken', 'FAIL'],
    ['unseen', 'skip'],
  ]);
});

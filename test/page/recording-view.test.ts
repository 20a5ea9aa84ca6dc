import { expect, test } from 'vitest';
import { recordingView } from '../../src/page/recording-view.ts';
import type { Recording } from '../../src/recording/read-recording.ts';
import { makeSummary } from '../helpers/summaries.ts';

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
    audio: { out: Buffer.alloc(0), in: Buffer.alloc(0) },
  } as never as Recording;
  const { verdicts } = recordingView(recording, { durationMs: 1, turns: [], gaps: [] });
  expect(verdicts.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['held', 'pass'],
    ['broken', 'FAIL'],
    ['unseen', 'skip'],
  ]);
});

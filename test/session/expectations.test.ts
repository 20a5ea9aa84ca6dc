import { describe, expect, test } from 'vitest';
import type { VoiceJudgement } from '../../src/audio/verdict/found-sounds.ts';
import type { FailureKind } from '../../src/kernel/failure-kind.ts';
import { type Expectations, judge, type Observed } from '../../src/session/expectations.ts';

const observed: Observed = {
  in: { frames: 50, bytes: 32_000, audioMs: 1_000 },
  audibleMs: 800,
  firstAudioMs: 420,
  jitterMs: { p50: 2, p95: 30, max: 90 },
  longestGapMs: 60,
  events: { service_voice_connected: 1, status: 4 },
  isConfirmed: true,
  closeCode: 1000,
  voice: { judgements: [], unjudged: null },
};
const nothing: Observed = {
  in: { frames: 0, bytes: 0, audioMs: 0 },
  audibleMs: 0,
  firstAudioMs: null,
  jitterMs: null,
  longestGapMs: null,
  events: {},
  isConfirmed: false,
  closeCode: null,
  voice: { judgements: [], unjudged: 'less than a second of speech' },
};
const found = (kind: VoiceJudgement['kind'], is: VoiceJudgement['is'], times = 1): VoiceJudgement => ({
  ...{ kind, is, times, side: 'service', text: kind, atMs: 1_020, lengthMs: 20, figure: null, advice: null },
});
const unclean = (...judgements: VoiceJudgement[]): Observed => ({
  ...observed,
  voice: { judgements, unjudged: null },
});

type Row = [
  asked: Expectations,
  seen: Observed,
  name: string,
  ok: boolean,
  expected: string,
  measured: string,
  kind?: FailureKind,
];

const single: Observed = {
  ...nothing,
  in: { frames: 1, bytes: 32_000, audioMs: 1_000 },
  firstAudioMs: 420,
};

const rows: Row[] = [
  [{ clean: 'findings' }, observed, 'expect-clean', true, 'clean AI audio', 'nothing found'],
  [
    { clean: 'findings' },
    unclean(found('click', 'finding', 3), found('repeat', 'finding'), found('noise', 'remark')),
    'expect-clean',
    false,
    'clean AI audio',
    'click at 1.02 s (3 times), repeat at 1.02 s',
    'unclean-audio',
  ],
  [
    { clean: 'findings' },
    unclean(found('noise', 'remark')),
    'expect-clean',
    true,
    'clean AI audio',
    'nothing found',
  ],
  [
    { clean: 'strict' },
    unclean(found('noise', 'remark')),
    'expect-clean',
    false,
    'AI audio without a remark',
    'noise at 1.02 s',
    'unclean-audio',
  ],
  [{ 'expect-audio': 0 }, observed, 'expect-audio', true, 'any AI audio', '1000 ms'],
  [{ 'expect-audio': 0 }, nothing, 'expect-audio', false, 'any AI audio', '0 ms', 'too-little-audio'],
  [{ 'expect-audio': 1_000 }, observed, 'expect-audio', true, 'at least 1000 ms', '1000 ms'],
  [
    { 'expect-audio': 1_001 },
    observed,
    'expect-audio',
    false,
    'at least 1001 ms',
    '1000 ms',
    'too-little-audio',
  ],
  [{ 'max-first-audio': 420 }, observed, 'max-first-audio', true, 'at most 420 ms', '420 ms'],
  [{ 'max-first-audio': 419 }, observed, 'max-first-audio', false, 'at most 419 ms', '420 ms', 'late-audio'],
  [
    { 'max-first-audio': 420 },
    nothing,
    'max-first-audio',
    false,
    'at most 420 ms',
    'nothing to measure',
    'late-audio',
  ],
  [{ events: ['status'] }, observed, 'expect-event', true, 'status', '4 times'],
  [{ events: ['transcript'] }, observed, 'expect-event', false, 'transcript', '0 times', 'missing-event'],
  [{ forbiddenEvents: ['error'] }, observed, 'forbid-event', true, 'no error', '0 times'],
  [
    { forbiddenEvents: ['status'] },
    observed,
    'forbid-event',
    false,
    'no status',
    '4 times',
    'forbidden-event',
  ],
  [{ 'expect-audible': 0 }, observed, 'expect-audible', true, 'any audible AI audio', '800 ms'],
  [
    { 'expect-audible': 0 },
    single,
    'expect-audible',
    false,
    'any audible AI audio',
    '0 ms',
    'too-little-audio',
  ],
  [
    { 'expect-audible': 801 },
    observed,
    'expect-audible',
    false,
    'at least 801 ms',
    '800 ms',
    'too-little-audio',
  ],
  [{ 'max-audio': 1_000 }, observed, 'max-audio', true, 'at most 1000 ms', '1000 ms'],
  [{ 'max-audio': 999 }, observed, 'max-audio', false, 'at most 999 ms', '1000 ms', 'too-much-audio'],
  [{ 'max-jitter': 30 }, observed, 'max-jitter', true, 'at most 30 ms', '30 ms'],
  [{ 'max-jitter': 29 }, observed, 'max-jitter', false, 'at most 29 ms', '30 ms', 'high-jitter'],
  [{ 'max-jitter': 29 }, single, 'max-jitter', true, 'at most 29 ms', '0 ms'],
  [{ 'max-jitter': 29 }, nothing, 'max-jitter', false, 'at most 29 ms', 'nothing to measure', 'high-jitter'],
  [{ 'max-gap': 60 }, single, 'max-gap', true, 'at most 60 ms', '0 ms'],
  [{ 'max-gap': 60 }, observed, 'max-gap', true, 'at most 60 ms', '60 ms'],
  [{ 'max-gap': 59 }, observed, 'max-gap', false, 'at most 59 ms', '60 ms', 'long-gap'],
  [{ 'max-gap': 60 }, nothing, 'max-gap', false, 'at most 60 ms', 'nothing to measure', 'long-gap'],
  [{ closeCode: 1000 }, observed, 'expect-close', true, '1000', '1000'],
  [{ closeCode: 1011 }, observed, 'expect-close', false, '1011', '1000', 'wrong-close'],
  [{ closeCode: 1000 }, nothing, 'expect-close', false, '1000', 'not connected', 'wrong-close'],
];

describe('an expectation', () => {
  test.each(rows)(
    'of %o, given %o, is judged as %s: %s',
    (asked, seen, name, ok, expected, measured, kind) => {
      expect(judge(asked, seen)).toEqual([{ name, ok, expected, measured, kind }]);
    },
  );

  test('of absence is skipped on a stream that was never confirmed, and fails if the event came', () => {
    const [skipped] = judge({ forbiddenEvents: ['error'] }, nothing);
    expect(skipped).toMatchObject({
      ok: true,
      skipped: true,
      measured: 'none, but the stream was never confirmed',
    });
    const [failed] = judge({ forbiddenEvents: ['error'] }, { ...nothing, events: { error: 1 } });
    expect(failed).toMatchObject({ ok: false, kind: 'forbidden-event', measured: 'once' });
  });

  test('is judged in the order of the flags, and each time if it is repeated', () => {
    const asked: Expectations = {
      closeCode: 1000,
      'max-gap': 100,
      forbiddenEvents: ['error', 'warning'],
      events: ['status', 'status'],
      'max-first-audio': 500,
      'expect-audio': 0,
    };
    expect(judge(asked, observed).map(({ name }) => name)).toEqual([
      'expect-audio',
      'max-first-audio',
      'max-gap',
      'expect-event',
      'expect-event',
      'forbid-event',
      'forbid-event',
      'expect-close',
    ]);
  });

  test('that is not set is not judged', () => {
    expect(judge({}, observed)).toEqual([]);
  });
});

test('clean audio is skipped, with the reason, if the voice was not judged', () => {
  expect(judge({ clean: 'findings' }, nothing)).toEqual([
    {
      ...{ name: 'expect-clean', ok: true, expected: 'clean AI audio', skipped: true },
      measured: 'not judged: less than a second of speech',
    },
  ]);
});

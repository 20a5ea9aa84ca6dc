import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { describeFailure } from '../../src/kernel/failure-kind.ts';
import { githubAnnotations, githubStepSummary } from '../../src/report/github.ts';
import { type SessionReport, sessionReport } from '../../src/report/session-report.ts';
import { lateAudio, makeRun, makeSummary, makeTotal } from '../helpers/summaries.ts';

const fail = {
  name: 'max-first-audio',
  ok: false,
  expected: 'at most 500 ms',
  measured: '690.4 ms',
  kind: 'late-audio' as const,
};
const late = makeRun({ summary: makeSummary({ ok: false, verdicts: [fail] }), failure: lateAudio() });
const name = 'stream a.wav';
const annotate = (report: SessionReport) => githubAnnotations(sessionReport(report));
const summarise = (report: SessionReport) => githubStepSummary(sessionReport(report));

describe('an annotation', () => {
  test('marks each expectation that failed, with its kind', () => {
    const runs = [makeRun(), { ...late, run: 2 }];
    expect(annotate({ name, runs, total: makeTotal(runs) })).toEqual([
      '::error title=voicectl stream a.wav%2C run 2%3A late-audio::max-first-audio: expected at most 500 ms, measured 690.4 ms',
    ]);
  });

  test('marks a session that failed', () => {
    const failure = describeFailure(new VoicectlError('stream-broken', 'The stream broke'));
    expect(annotate({ name, runs: [makeRun({ failure })] })).toEqual([
      '::error title=voicectl stream a.wav%3A stream-broken::The stream broke',
    ]);
  });

  test('is not made for a run that passed', () => {
    expect(annotate({ name, runs: [makeRun()] })).toEqual([]);
  });

  test('is one line and one command, whatever a service said', () => {
    const message = '::100%\r\n::set-output name=a::b\u001b[0m ##[c]';
    const failure = { ...lateAudio(), code: 'service-error' as const, message };
    const [line] = annotate({ name: 'a,b:c%\n', runs: [makeRun({ failure })] });
    expect(line).toBe(
      '::error title=voicectl a%2Cb%3Ac%25\\n%3A late-audio::\\u003a:100%25\\u000d\\n::set-output name=a::b\\u001b[0m #\\u0023[c]',
    );
  });

  test('is made at most ten times, because GitHub shows no more', () => {
    const runs = Array.from({ length: 20 }, (_, index) => ({ ...late, run: index + 1 }));
    expect(annotate({ name, runs })).toHaveLength(10);
  });
});

describe('the step summary', () => {
  test('of a run has its result, verdicts and metrics', () => {
    const text = summarise({ name, runs: [late] });
    expect(text).toContain('### ❌ voicectl stream a.wav\n');
    expect(text).toContain('**late-audio** Not as expected: late\n');
    expect(text).toContain('| **FAIL** | max-first-audio | at most 500 ms | 690.4 ms |\n');
    expect(text).toContain('| first audio | 690.4 ms |\n');
    expect(summarise({ name, runs: [makeRun()] })).toContain('### ✅ voicectl');
  });

  test('of no run is not a success', () => {
    expect(summarise({ name, runs: [] })).toContain('❌');
  });

  test('shows what a service sent, without rendering it', () => {
    const evil = '**| <img src=x> [a](b) `c` **d** \n # e ##vso[f] ~~g~~';
    const summary = makeSummary({ verdicts: [{ ...fail, measured: evil }] });
    const text = summarise({ name, runs: [makeRun({ summary, failure: lateAudio() })] });
    expect(text).toContain(
      '\\*\\*\\| \\<img src=x\\> \\[a\\](b) \\`c\\` \\*\\*d\\*\\* \\\\n \\# e \\#\\\\u0023vso\\[f\\] \\~\\~g\\~\\~ |\n',
    );
  });
});

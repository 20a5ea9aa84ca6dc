import { describe, expect, test } from 'vitest';
import { jsonLine } from '../../src/kernel/escape.ts';
import { isWarning, sessionLines } from '../../src/report/session-lines.ts';
import { createStyle, plainStyle } from '../../src/report/style.ts';
import { summaryLines } from '../../src/report/summary-lines.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import { makeSummary } from '../helpers/summaries.ts';

const plain = createStyle(false);
const colour = createStyle(true);
const evil = '\u001b]0;x\u0007\u009b\u202e\r\n';
const shown = '\\u001b]0;x\\u0007\\u009b\\u202e\\u000d\\n';

const totals = (frames: number) => ({ frames, bytes: frames * 640, audioMs: frames * 20 });

const summary: SessionEvent = {
  t: 9000,
  type: 'summary',
  device: evil,
  ok: false,
  elapsedMs: 9000,
  tokenMs: 12.5,
  connectMs: 3,
  authoriseMs: 2.1,
  out: totals(100),
  in: totals(50),
  audibleMs: 900,
  firstAudioMs: 690.4,
  jitterMs: { p50: 1, p95: 2.5, max: 9 },
  longestGapMs: 40,
  sendLatenessMs: null,
  underruns: null,
  events: { [evil]: 2, status: 1 },
  rateLimit: { limit: 60, remaining: 58, resetAtMs: undefined },
  close: { code: 4000, reason: evil, name: evil },
  verdicts: [
    { name: 'expect-audio', ok: true, expected: 'any AI audio', measured: '1000 ms' },
    { name: `expect-event${evil}`, ok: false, expected: evil, measured: '0 times', kind: 'missing-event' },
  ],
  failure: { kind: 'missing-event', code: 'expectation-failed', exitCode: 1, message: `Not as ${evil}` },
};

const events: [SessionEvent, RegExp][] = [
  [
    {
      t: 0,
      type: 'session',
      version: `1.2.3${evil}`,
      device: evil,
      baseUrl: 'http://h',
      wsUrl: 'ws://h',
      source: evil,
      format: `16,000 Hz${evil}`,
    },
    /· session {2}.*\(16,000 Hz.*\) as .* to ws:\/\/h, voicectl 1\.2\.3/,
  ],
  [{ t: 1, type: 'state', state: 'connecting' }, /· state {2}connecting$/],
  [
    { t: 2, type: 'retry', attempt: 1, delayMs: 1500, code: 'rate-limited', message: `slow ${evil}` },
    /! retry {2}next attempt in 1\.5 s: slow /,
  ],
  [
    {
      t: 3,
      type: 'token',
      claims: { sub: evil },
      rateLimit: { limit: 60, remaining: 59, resetAtMs: 1 },
      status: 200,
      ms: 12,
      attempts: 1,
    },
    /↓ token {2}in 12 ms \(59 of 60 requests left\)$/,
  ],
  [{ t: 3, type: 'token', claims: undefined }, /token {2}granted$/],
  [
    {
      t: 3,
      type: 'token',
      claims: undefined,
      ms: 1,
      rateLimit: { limit: undefined, remaining: 4, resetAtMs: undefined },
    },
    /\(4 of \? requests left\)/,
  ],
  [{ t: 4, type: 'message', category: 'status', kind: evil, body: { type: evil } }, /↓ .*\{"type":/],
  [
    { t: 4, type: 'message', category: 'malformed', kind: undefined, body: `not JSON ${evil}` },
    /! malformed {2}not JSON/,
  ],
  [{ t: 4, type: 'message', category: 'other', kind: undefined, body: null }, /other {2}null/],
  [
    {
      t: 5,
      type: 'audio',
      direction: 'out',
      frames: 50,
      bytes: 32_000,
      audioMs: 1000,
      rmsDbfs: -20,
      peakDbfs: -3.34,
    },
    /↑ audio {2}50 frames {2}1\.00 s {2}peak -3\.3 dBFS$/,
  ],
  [
    {
      t: 5,
      type: 'audio',
      direction: 'in',
      frames: 1,
      bytes: 640,
      audioMs: 20,
      rmsDbfs: -100,
      peakDbfs: -100,
    },
    /↓ audio {2}1 frame {2}0\.02 s {2}silence$/,
  ],
  [
    { t: 6, type: 'speech', state: 'start', audioMs: 180 },
    /↑ speech {2}starts at 0\.18 s of the sent audio$/,
  ],
  [{ t: 6, type: 'speech', state: 'end', audioMs: 1960 }, /↑ speech {2}ends at 1\.96 s of the sent audio$/],
  [{ t: 7, type: 'warning', code: 'late', message: `late ${evil}` }, /! late {2}late /],
  [
    { t: 7, type: 'warning', code: 'overrun', message: 'lost', hint: `do ${evil}` },
    /! overrun {2}lost\. do /,
  ],
  [{ t: 8, type: 'close', code: 1000, reason: '', name: 'normal' }, /↓ close {2}1000 normal$/],
  [
    { t: 8, type: 'close', code: 1000, reason: '', name: 'normal', from: 'device' },
    /↑ close {2}1000 normal$/,
  ],
  [{ t: 8, type: 'close', code: 4401, reason: evil, name: 'application' }, /↓ close {2}4401 application: /],
  [summary, /result {2,}failed \(missing-event\) in 9\.0 s$/],
];

describe.each(events.map(([event, text]) => ({ type: event.type, event, text })))(
  'an event of type $type',
  ({ event, text }) => {
    test('has a line that says what happened, and when', () => {
      const lines = sessionLines(event, plain);
      expect(lines.join('\n')).toMatch(text);
      if (event.type !== 'summary') {
        expect(lines).toHaveLength(1);
        expect(lines[0]).toMatch(new RegExp(`^ +0\\.00${event.t} {2}`));
      }
    });

    test('contains nothing from outside that controls a terminal', () => {
      const all = sessionLines(event, plain).join('');
      expect(all).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
      if (/]0;x/.test(all)) expect(all).toContain(shown);
      // Colours are ours, and say the same.
      expect(
        sessionLines(event, colour)
          .join('')
          .replace(/\u001b\[\d+m/g, ''),
      ).toBe(all);
    });

    test('is the same event again when its JSON is parsed', () => {
      const line = jsonLine(event);
      expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(event)));
    });
  },
);

describe('the summary', () => {
  test('fails if a rule was broken in a proxy, although the run itself did not fail', () => {
    const lines = summaryLines(makeSummary({ ok: false, failure: null }), plainStyle);
    expect(lines.at(-1)).toMatch(/^result +failed in 4\.0 s$/);
  });

  test('is a table of every metric, with the verdicts and the result at the end', () => {
    const rows = sessionLines(summary, plain).slice(1);
    expect(rows.map((row) => row.slice(0, row.indexOf('  ')))).toEqual([
      'device',
      'sent',
      'received',
      'token',
      'connect',
      'first audio',
      'jitter',
      'longest gap',
      'underruns',
      'sent late',
      'events',
      'rate limit',
      'close',
      'expect-audio',
      `expect-event${shown}`,
      'result',
    ]);
    const text = rows.join('\n');
    expect(text).toMatch(/^sent +100 frames, 64000 bytes, 2\.00 s$/m);
    expect(text).toMatch(/^received +50 frames, 32000 bytes, 1\.00 s \(0\.90 s audible\)$/m);
    expect(text).toMatch(/^result +failed \(missing-event\) in/m);
    expect(text).toMatch(/^first audio +690\.4 ms after the end of speech$/m);
    expect(text).toMatch(/^jitter +p50 1 ms, p95 2\.5 ms, max 9 ms$/m);
    expect(text).toMatch(/^rate limit +58 of 60 left$/m);
    expect(text.replaceAll(/ {2,}/g, '  ')).toContain(`events  ${shown} × 2, status × 1`);
    expect(text.replaceAll(/ {2,}/g, '  ')).toContain(`close  4000 application: ${shown}`);
    expect(text).toMatch(/^expect-audio +pass: expected any AI audio, measured 1000 ms$/m);
    expect(text).toMatch(/^expect-event\S+ +FAIL: expected .*, measured 0 times$/m);
  });

  test('of a session without any results has dashes', () => {
    const nowhere: SessionEvent = {
      ...summary,
      in: totals(0),
      tokenMs: null,
      connectMs: null,
      authoriseMs: null,
      firstAudioMs: null,
      jitterMs: null,
      longestGapMs: null,
      rateLimit: null,
      close: null,
      events: {},
      verdicts: [],
      underruns: 2,
    };
    const text = sessionLines(nowhere, plain).join('\n');
    for (const row of ['token', 'jitter', 'longest gap', 'rate limit', 'close'])
      expect(text).toMatch(new RegExp(`^${row} +–$`, 'm'));
    expect(text).toMatch(/^events +none$/m);
    expect(text).toMatch(/^underruns +2$/m);
  });
});

test('with only warnings wanted, warnings, retries and errors have a line, and nothing else', () => {
  const kept = events.map(([event]) => event).filter(isWarning);
  expect(kept.map((event) => (event.type === 'message' ? event.category : event.type))).toEqual([
    'retry',
    'malformed',
    'warning',
    'warning',
  ]);
  expect(isWarning({ t: 1, type: 'message', category: 'error', kind: 'error', body: {} })).toBe(true);
});

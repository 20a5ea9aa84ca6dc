import { deflateSync, inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadPlanLines, loadSummaryLines } from '../../../src/report/load-lines.ts';
import { createStyle } from '../../../src/report/style.ts';
import { readResult } from '../../../src/runs/load/read-result.ts';
import { createTotals, encodeResult, type LoadResult, mergeResults } from '../../../src/runs/load/result.ts';
import { judgeResult } from '../../../src/runs/load/summary.ts';
import { tickOf } from './ticks.ts';

// biome-ignore lint/suspicious/noExplicitAny: a forged file has any shape
type Forged = any;

const esc = '\u001b';

/** A result of two seconds with times in it, as JSON. */
function written(number = 1): Forged {
  const totals = createTotals();
  for (const second of [0, 1])
    totals.add(
      tickOf({
        second,
        opened: 1,
        counts: { arrived: 2 },
        finished: { token: [12, 40] },
        lateness: [[75, 3]],
      }),
    );
  const facts: LoadResult['facts'] = {
    ...{
      version: '1',
      target: 'http://127.0.0.1:1',
      task: 'talk',
      arrival: 'constant:1/s',
      seed: 1,
      startAt: 0,
    },
    cost: { sessions: 1, tokens: 1, devices: 1, audioMinutes: 1, arrivalsMs: 1, longestMs: 1 },
  };
  const generators = [{ name: `${number}/2.1`, core: 0.5, longestPauseMs: 0, lost: null }];
  const result = encodeResult({ totals, facts, shards: { has: [number], of: 2 }, generators, stopped: null });
  return JSON.parse(JSON.stringify(result));
}

/** The histogram of the lateness, with other content. */
function histogram(change: (plain: Buffer) => Buffer): string {
  const bytes = Buffer.from(written().lateness.hdr, 'base64');
  const packed = deflateSync(change(inflateSync(bytes.subarray(8, 8 + bytes.readInt32BE(4)))));
  const head = Buffer.from(bytes.subarray(0, 8));
  head.writeInt32BE(packed.length, 4);
  const hdr = Buffer.concat([head, packed]);
  return Buffer.concat([hdr, Buffer.alloc((3 - (hdr.length % 3)) % 3)]).toString('base64');
}

/** The same with these bytes in place of the counts. */
const withCounts = (...bytes: number[]) =>
  histogram((plain) => {
    const all = Buffer.concat([plain.subarray(0, 40), Buffer.from(bytes)]);
    all.writeInt32BE(bytes.length, 4);
    return all;
  });

const at = (offset: number, value: number) =>
  histogram((plain) => {
    plain.writeInt32BE(value, offset);
    return plain;
  });

const forgeries: [what: string, forge: (result: Forged) => unknown, says: string | RegExp][] = [
  ['a negative count', (r) => (r.counts.arrived = -4), 'counts.arrived: -4, expected number to be >=0'],
  ['half a session', (r) => (r.counts.done = 0.5), 'counts.done: 0.5, expected int'],
  [
    'a text as a count',
    (r) => (r.failures.timeout = `1${esc}[31m`),
    'failures.timeout: "1\\u001b[31m", expected number',
  ],
  ['no lateness', (r) => delete r.lateness, 'lateness: missing, expected object'],
  [
    'a start that no calendar has',
    (r) => (r.facts.startAt = 1e300),
    'facts.startAt: 1e+300, expected number to be <=',
  ],
  ['a task of its own', (r) => (r.facts.task = `${esc}[2J`), 'facts.task: "\\u001b[2J", expected one of'],
  [
    'a target of 100 KB',
    (r) => (r.facts.target = 'x'.repeat(1e5)),
    /facts\.target: "x{59}, expected .*2000 characters$/,
  ],
  ['a shard beyond the last', (r) => (r.shards.has = [3]), 'shards: (an object), expected shards up to `of`'],
  [
    'a thousand million shards',
    (r) => (r.shards.of = 1e9),
    'shards.of: 1000000000, expected number to be <=99999',
  ],
  [
    'a hundred thousand shards in a list',
    (r) => (r.shards.has = Array(1e5).fill(1)),
    'x.json: shards.has: (a list), expected a list of at most',
  ],
  [
    'a hundred thousand generators',
    (r) => (r.generators = Array(1e5).fill(null)),
    'x.json: generators: (a list), expected a list of at most',
  ],
  [
    'a generator of another name',
    (r) => (r.generators[0].name = `1/1.1${esc}`),
    'generators.0.name: "1/1.1\\u001b", expected a name',
  ],
  ['fifty cores', (r) => (r.generators[0].core = 50), 'generators.0.core: 50, expected number to be <=1'],
  [
    'a pause of less than nothing',
    (r) => (r.generators[0].longestPauseMs = -1),
    'generators.0.longestPauseMs: -1',
  ],
  ['a second that is none', (r) => (r.series[0] = 5), 'series.0: expected an object'],
  ['a second of another year', (r) => (r.series[1].second = 1e9), 'series.1.second: 1000000000, expected 1'],
  [
    'a hundred thousand seconds of nothing',
    (r) => (r.series = Array(1e5).fill({})),
    'series.0.second: missing, expected number',
  ],
  ['fewer than no sessions', (r) => (r.series[0].open = -1), 'series.0.open: -1, expected number to be >=0'],
  [
    'a hundred thousand times in a second',
    (r) => (r.series[0].late = Array(1e5).fill([1, 1])),
    'series.0.late: (a list), expected at most 1000 pairs',
  ],
  [
    'a number of times below zero',
    (r) => (r.series[0].times.token = [[12_000, -2]]),
    'series.0.times.token: (a list), expected at most 1000 pairs',
  ],
  ['another number of times', (r) => (r.lateness.count = 7), 'lateness: (an object), expected a histogram'],
  [
    'a smallest time that it does not have',
    (r) => (r.lateness.minUs = 2),
    'lateness: (an object), expected a histogram',
  ],
  [
    'no histogram',
    (r) => (r.metrics.token.finished.hdr = 'AAAA'),
    'metrics.token.finished: (an object), expected a histogram',
  ],
];

/** What the library of histograms would believe. */
const histograms: [what: string, hdr: string][] = [
  ['inflates to 20 MB', histogram((plain) => Buffer.concat([plain, Buffer.alloc(2e7)]))],
  ['has five figures', at(12, 5)],
  ['has times up to 10¹⁹', at(24, 0x7fffffff)],
  ['says that it is 2 GB long', at(4, 0x7fffffff)],
  ['has a run of 2⁵⁰ empty classes', withCounts(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03)],
  ['has a count that wraps to below zero', withCounts(0x80, 0x80, 0x80, 0x80, 0x10)],
  ['ends in a count', withCounts(0x06, 0x80)],
  ['has classes beyond its last', withCounts(0xff, 0xff, 0xff, 0x7f, 0x0c)],
];

const read = (result: unknown) => readResult(JSON.stringify(result), 'x.json');

describe('a forged result with', () => {
  test.each(forgeries)('%s is refused with file and field', (_what, forge, says) => {
    const result = written();
    forge(result);
    expect(() => read(result)).toThrow(says);
    expect(() => read(result)).toThrow(
      expect.objectContaining({ code: 'bad-input', message: expect.not.stringContaining(esc) }),
    );
  });

  test.each(histograms)('a histogram that %s is refused with file and field', (_what, hdr) => {
    const result = written();
    result.metrics.token.unfinished = { count: 6, minUs: 75, maxUs: 75, hdr };
    expect(() => read(result)).toThrow('x.json: metrics.token.unfinished: (an object), expected a histogram');
  });

  test('a histogram of another time is read', () => {
    const result = written();
    result.metrics.token.unfinished = { count: 6, minUs: 75, maxUs: 75, hdr: histogram((plain) => plain) };
    expect(read(result).metrics.token?.unfinished.count).toBe(6);
  });

  test('names that all objects have is read without them', () => {
    const text = JSON.stringify(written()).replaceAll(
      /"(failures|metrics|touched)":\{/g,
      '$&"__proto__":3,"constructor":4,',
    );
    expect(read(JSON.parse(text.replace(',}', '}').replaceAll(',}', '}')))).toEqual(read(written()));
  });
});

test('a second may have a negative number of arrivals, but a result may not', () => {
  const result = written();
  result.series[1].counts.arrived = -1;
  expect(read(result).series[1]?.counts.arrived).toBe(-1);
  result.series[1].counts.done = -1;
  expect(() => read(result)).toThrow('series.1.counts.done: -1, expected number to be >=0');
});

test('texts of a result are read unchanged, and shown without control characters', () => {
  const result = written();
  result.stopped = `Interrupted${esc}[2J`;
  result.facts.arrival = 'burst:1\u202e';
  result.generators[0].lost = 'gone\r\n::error::';
  result.facts.target = 'http://a\\b';
  const known = read(result);
  expect(known.stopped).toBe(`Interrupted${esc}[2J`);
  const { summary } = judgeResult(mergeResults([known]), []);
  const plain = createStyle(false);
  const shown = [...loadPlanLines(summary.facts, plain), ...loadSummaryLines(summary, plain)].join('\n');
  expect(shown).toContain('Interrupted\\u001b[2J');
  expect(shown).toContain('http://a\\b');
  expect(shown).toContain('burst:1\\u202e');
  expect(shown).not.toContain(esc);
});

test('a result of a version that did not measure its own pauses merges with one that did', () => {
  const old = written(1);
  for (const counts of [old.counts, ...old.series.map((second: Forged) => second.counts)])
    delete counts.framesMissed;
  delete old.touched;
  delete old.generators[0].longestPauseMs;
  const other = written(2);
  other.counts.framesMissed = 5;
  other.touched = { token: 2 };
  const merged = encodeResult(mergeResults([read(old), read(other)]));
  expect(merged.counts).toMatchObject({ arrived: 8, framesMissed: 5 });
  expect(merged.touched).toEqual({ token: 2 });
  expect(merged.generators.map(({ longestPauseMs }) => longestPauseMs)).toEqual([null, 0]);
});

test.each([
  ['nothing in it', ''],
  ['no JSON', 'not JSON'],
  ['a list', '[]'],
  ['nothing of a result', '{}'],
  ['another format', '{"type":"load-result","format":2}'],
  ['a million lists in each other', '['.repeat(1e6)],
])('a file with %s is not a result', (_what, text) => {
  expect(() => readResult(text, 'x.json')).toThrow('x.json is not a result of voicectl load');
});

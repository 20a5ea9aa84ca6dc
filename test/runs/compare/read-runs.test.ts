import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { addToBaseline } from '../../../src/runs/compare/baseline.ts';
import { compareRuns } from '../../../src/runs/compare/compare-runs.ts';
import { readRuns } from '../../../src/runs/compare/read-runs.ts';
import { createDraws, loadResult, simulateRun } from './simulated-runs.ts';

const esc = '\u001b';
const line = (value: object) => JSON.stringify(value);
const lines = (...values: object[]) => values.map(line).join('\n');

const begin = { type: 'session', source: 'sounds/hello.wav', baseUrl: 'http://127.0.0.1:1' };
const session = {
  ...{ type: 'summary', tokenMs: 4, connectMs: 5, authoriseMs: 6, firstAudioMs: 300, longestGapMs: null },
  ...{ jitterMs: { p50: 1, p95: 2, max: 3 }, sendLatenessMs: { p50: 0.1, p95: 0.2, max: 1 }, failure: null },
};
const total = { type: 'summary', runs: 3, passed: 2, failure: { kind: 'late-audio' } };
const run = (firstAudioMs: number, warmup = false) => ({ ...session, type: 'run', warmup, firstAudioMs });
const rule = { type: 'rule', id: 'R12', title: 'exp', verdict: 'pass', message: 'seen' };
const drilled = {
  type: 'drill',
  id: 'D4-429',
  situation: 'D4-429',
  title: 'slow',
  verdict: 'pass',
  message: '',
};
const summary = { type: 'summary', stopped: null };

describe('the kind is detected from the file', () => {
  test('a result of load', () => {
    const found = simulateRun({ time: () => 400, between: () => 0, failing: 0 }, createDraws(1), {
      sessions: 150,
    });
    expect(found).toMatchObject({ kind: 'load', plan: expect.arrayContaining([['sessions', 150]]) });
    const names = found.runs[0].figures.map(({ name }) => name);
    // One value of 150 is beyond p99.
    expect(names).toEqual(expect.arrayContaining(['first-audio:p50', 'first-audio:p95', 'failed']));
    expect(names).not.toContain('first-audio:p99');
    expect(readRuns(line(loadResult({ sessions: 3, failed: 1 })), 'r.json').runs[0].figures).toMatchObject([
      { name: 'failed', value: expect.closeTo(1 / 3) },
    ]);
  });

  test('a result of load includes when its sessions arrive, which only a Poisson rate draws', () => {
    const at = (arrivalsMs: number, arrival = 'constant:10/s') => {
      const result = loadResult({ sessions: 3 });
      const cost = { ...result.facts.cost, arrivalsMs, longestMs: arrivalsMs + 10_000 };
      return readRuns(line({ ...result, facts: { ...result.facts, arrival, cost } }), `${arrivalsMs}.json`);
    };
    const [plain, ramped] = [at(1_000), at(31_000)];
    expect(() => compareRuns(plain, ramped)).toThrow('last arrival in ms is 1000 in 1000.json, but 31000');
    expect(compareRuns(plain, at(1_000)).verdict).toBe('unknown');
    const drawn = 'poisson:10/s';
    expect(compareRuns(at(1_000, drawn), at(1_100, drawn)).verdict).toBe('unknown');
    // A baseline of an earlier version.
    const old = { ...plain, plan: plain.plan.filter(([name]) => name !== 'last arrival in ms') };
    expect(compareRuns(old, plain).verdict).toBe('unknown');
  });

  test('a session', () => {
    const found = readRuns(lines(begin, { type: 'state' }, session), 's.jsonl');
    expect(found).toMatchObject({
      kind: 'stream',
      plan: [
        ['file', 'hello.wav'],
        ['pace', 1],
      ],
    });
    expect(found.runs[0].figures.map(({ name, value }) => [name, value])).toEqual([
      ['token:p50', 4],
      ['connect:p50', 5],
      ['confirmed:p50', 6],
      ['first-audio:p50', 300],
      ['jitter:p50', 2],
      ['failed', 0],
    ]);
  });

  test('a session includes the length of its file and its pace, so others cannot be compared', () => {
    const at = (more: object) => readRuns(lines({ ...begin, ...more }, session), 's.jsonl');
    const plain = at({ durationMs: 2_256 });
    expect(compareRuns(plain, at({ durationMs: 2_256 })).verdict).toBe('unknown');
    expect(() => compareRuns(plain, at({ durationMs: 2_256, pace: 'max' }))).toThrow('pace is 1');
    expect(() => compareRuns(plain, at({ durationMs: 900 }))).toThrow('length of the file in ms is 2256');
  });

  test('several sessions, without warm-up runs', () => {
    const found = readRuns(lines(begin, run(900, true), run(300), run(310), run(320), total), 's.jsonl');
    const [{ figures }] = found.runs;
    expect(figures.find(({ name }) => name === 'first-audio:p50')).toMatchObject({ value: 310 });
    expect(figures.find(({ name }) => name === 'failed')).toMatchObject({ value: expect.closeTo(1 / 3) });
  });

  test('turn-taking is compared from ten events on, and only if it was judged', () => {
    const turn = { responseMs: 600, yieldMs: null, talkOverMs: 0 };
    const namesOf = (turns: number, unjudged: string | null = null) => {
      const dialogue = { unjudged, turns: Array.from({ length: turns }, () => turn) };
      const [{ figures }] = readRuns(lines(begin, { ...session, dialogue }), 's.jsonl').runs;
      return figures.map(({ name }) => name).filter((name) => /response|yield|talk/.test(name));
    };
    expect(namesOf(9)).toEqual([]);
    expect(namesOf(10)).toEqual(['response:p50', 'talk-over:p50']);
    expect(namesOf(10, 'an echo')).toEqual([]);
  });

  test('a check, and a drill with a rule that was broken in a situation', () => {
    expect(readRuns(lines(rule, summary), 'c.jsonl')).toMatchObject({
      kind: 'check',
      runs: [{ items: [{ id: 'R12' }] }],
    });
    const beside = { ...drilled, id: 'D9', verdict: 'fail' };
    const found = readRuns(lines(drilled, beside, summary), 'd.jsonl');
    expect(found.kind).toBe('drill');
    expect(found.runs[0].items.map(({ id }) => id)).toEqual(['D4-429', 'D4-429/D9']);
  });

  test('a dialect, as YAML and as JSON, with its secrets hidden', () => {
    const secret = 'x'.repeat(40);
    const yaml = readRuns(`token:\n  jti: false\n  secret: ${secret}\n`, 'd.yaml');
    expect(yaml.kind).toBe('dialect');
    expect(yaml.runs[0].items).toContainEqual(expect.objectContaining({ id: 'token.jti', verdict: 'false' }));
    expect(line(yaml)).not.toContain(secret);
    expect(readRuns('{"token":{"jti":false}}', 'd.json').runs[0].items).toHaveLength(
      yaml.runs[0].items.length - 1,
    );
  });

  test('a baseline, as addToBaseline writes it', () => {
    const one = readRuns(lines(begin, session), 's.jsonl');
    let [text, count] = ['', 0];
    for (let runs = 0; runs < 25; runs += 1)
      ({ text, count } = addToBaseline(text === '' ? undefined : readRuns(text, 'b.json'), {
        ...one,
        runs: [{ ...one.runs[0], at: runs }],
      }));
    const found = readRuns(text, 'b.json');
    expect(count).toBe(20);
    expect(found.runs.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, index) => index + 5));
    expect({ ...found, runs: [] }).toEqual({ ...one, name: 'b.json', runs: [] });
    expect(found.runs[0].figures).toEqual(
      one.runs[0].figures.map((figure) => ({ ...figure, noise: expect.closeTo(figure.noise, 6) })),
    );
  });
});

describe('a run is not valid', () => {
  test.each([
    [
      'a session that failed on this machine',
      lines(begin, { ...session, failure: { kind: 'local-io' } }),
      /local-io/,
    ],
    ['frames that left late', lines(begin, { ...session, sendLatenessMs: { p95: 31 } }), /31\.0 ms late/],
    [
      'a check that ended early',
      lines(rule, { type: 'summary', stopped: { message: 'Interrupted' } }),
      /early: Interrupted/,
    ],
    [
      'a load that ended early',
      line({ ...loadResult({ sessions: 9 }), stopped: 'Interrupted' }),
      /early: Interrupted/,
    ],
    [
      'a shard alone',
      line({ ...loadResult({ sessions: 9 }), shards: { has: [1], of: 2 } }),
      /shard 2 of 2 is missing/,
    ],
  ])('with %s', (_what, content, why) => {
    expect(readRuns(content, 'f').runs[0].invalid).toEqual([expect.stringMatching(why)]);
  });
});

describe('a file that somebody else has written', () => {
  const baseline = JSON.parse(addToBaseline(undefined, readRuns(lines(begin, session), 's')).text);
  const hostile: [what: string, content: string, says: string | RegExp][] = [
    ['nothing', '', 'f: it is empty'],
    ['no result', 'hello', /f/],
    ['a number', '42', /f/],
    ['a list', '[1,2]', /f/],
    ['of another kind', line({ type: `other${esc}[2J` }), 'f: it has no summary: the run did not end'],
    ['of serve', lines({ type: 'listening' }, { type: 'summary' }), 'f: it is not a result of check'],
    ['without an end', lines(begin, run(300)), 'f: it has no summary'],
    [
      'a result that is cut off',
      line(loadResult({ sessions: 9 })).slice(0, 300),
      'f: line 1 is not a JSON object',
    ],
    ['with half a line', `${lines(begin)}\n{"type":`, 'f: line 2 is not a JSON object'],
    [
      'with a verdict of its own',
      lines({ ...rule, verdict: `${esc}[31m` }, summary),
      'f: line 1: verdict: "\\u001b[31m"',
    ],
    [
      'with an id of its own',
      lines({ ...rule, id: '__proto__' }, summary),
      'line 1: id: "__proto__", expected an ID such as R12',
    ],
    [
      'with a time that is none',
      lines(begin, { ...session, tokenMs: -1 }),
      'line 2: tokenMs: -1, expected number to be >=0',
    ],
    ['with an endless time', lines(begin, { ...session, tokenMs: 1e300 }), 'line 2: tokenMs: 1e+300'],
    [
      'with a text as a time',
      lines(begin, { ...session, tokenMs: `1${esc}` }),
      'line 2: tokenMs: "1\\u001b"',
    ],
    ['with more runs than can be', lines(begin, { ...total, runs: 1e9 }), 'line 2: runs: 1000000000'],
    ['with a baseline of nothing', line({ ...baseline, runs: [] }), 'f: runs'],
    ['with a baseline of too much', line({ ...baseline, runs: Array(21).fill(baseline.runs[0]) }), 'f: runs'],
    ['with a baseline of a format to come', line({ ...baseline, format: 2 }), 'f: format: 2'],
    [
      'with a figure of its own',
      line({ ...baseline, runs: [{ ...baseline.runs[0], figures: [{ name: `a${esc}` }] }] }),
      'f: runs.0.figures.0.name: "a\\u001b"',
    ],
    [
      'with a load that is forged',
      line({ ...loadResult({ sessions: 3 }), counts: {} }),
      'f: counts.arrived: missing',
    ],
    [
      'that is nested deeply',
      `{"type":"baseline","runs":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      /f: format: missing/,
    ],
  ];
  test.each(hostile)('%s is refused in one line that no terminal executes', (_what, content, says) => {
    let thrown: unknown;
    try {
      readRuns(content, 'f');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(VoicectlError);
    const { message, exitCode } = thrown as VoicectlError;
    expect(exitCode).toBe(2);
    expect(message).toEqual(
      typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
    );
    expect(message).not.toMatch(/[\n\u001b]/);
    expect(message.length).toBeLessThan(400);
  });
});

import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createTimes } from '../../src/runs/load/histogram.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';
import { createDraws, loadResult } from '../runs/compare/simulated-runs.ts';

const sandbox = setUpSandbox();
const startEmulator = setUpEmulators();

/** A result of `load` whose first-audio times are about this long. */
function result(ms: number, seed = 1): string {
  const draws = createDraws(seed);
  const finished = createTimes();
  for (let session = 0; session < 400; session += 1)
    finished.add(Math.round(ms * 1000 * (1 + 0.02 * draws.normal())));
  const times = { finished: finished.encode(), unfinished: createTimes().encode() };
  return JSON.stringify(loadResult({ sessions: 400, metrics: { 'first-audio': times } }));
}

const session = [
  ...['stream', '--file', 'barge-in.wav', '--local', '--reply', 'echo', '--pace', 'max'],
  ...['--tail', '0', '--settle', '200ms'],
];

describe('compare', () => {
  test.each(['stream', 'load'])(
    '%s compares nothing without a baseline, whatever the tolerance',
    async (command) => {
      const ended = await sandbox.runHere([command, '--tolerance', 'failed<1%']);
      expect(ended).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--tolerance needs --baseline'),
      });
    },
  );

  test('says that it cannot judge two runs, unless a tolerance is given', async () => {
    const [a, b] = [sandbox.write('a.json', result(400)), sandbox.write('b.json', result(480, 2))];
    const unknown = await sandbox.runHere(['compare', a, b]);
    expect(unknown.code).toBe(0);
    expect(unknown.stdout).toMatch(
      /^unknown .* has 1 run, too few to know how much runs vary; at least 5 are needed\n/,
    );
    const worse = await sandbox.runHere(['compare', a, b, '--tolerance', 'first-audio:p95<10%']);
    expect(worse.code).toBe(1);
    expect(worse.stdout).toMatch(/^WORSE .*1 figure got worse by more than is allowed\n/);
    expect(worse.stderr).toContain('1 figure got worse by more than is allowed');
    const allowed = await sandbox.runHere(['compare', a, b, '--tolerance', 'first-audio:p95<30%']);
    expect(allowed.code).toBe(0);
  });

  test('leaves out a tolerance of a config file for figures of other runs, but refuses the flag', async () => {
    const [a, b] = [sandbox.write('a.json', result(400)), sandbox.write('b.json', result(480, 2))];
    const config = sandbox.write('c.yaml', 'tolerance: ["token:p50<10%", "first-audio:p95<10%"]\n');
    const worse = await sandbox.runHere(['compare', a, b, '--config', config]);
    expect(worse).toMatchObject({ code: 1, stdout: expect.stringMatching(/^WORSE .*1 figure got worse/) });
    const baseline = sandbox.write('base.json', result(400));
    const merged = await sandbox.runHere(['load', 'merge', b, '--baseline', baseline, '--config', config]);
    expect(merged).toMatchObject({ code: 1, stdout: expect.stringContaining('WORSE') });
    const refused = await sandbox.runHere(['compare', a, b, '--tolerance', 'token:p50<10%']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('neither result has this figure'),
    });
  });

  test('with --quiet prints only what is not good, and all of it as JSON', async () => {
    const [a, b] = [sandbox.write('a.json', result(400)), sandbox.write('b.json', result(480, 2))];
    const compare = (...flags: string[]) => sandbox.runHere(['compare', a, b, '--quiet', ...flags]);
    const allowed = ['--tolerance', 'first-audio:p95<30%'];
    expect(await compare(...allowed)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect((await compare(...allowed, '--json')).stdout).toContain('"verdict":"same"');
    expect((await compare()).stdout).toMatch(/^unknown /);
    expect((await compare('--tolerance', 'first-audio:p95<10%')).stdout).toMatch(/^WORSE /);
  });

  test('writes the same results as JSON, JUnit, a page and a step summary', async () => {
    const [a, b] = [sandbox.write('a.json', result(400)), sandbox.write('b.json', result(480, 2))];
    const flags = [
      '--tolerance',
      'first-audio:p95<10%',
      '--junit',
      sandbox.path('c.xml'),
      '--html',
      sandbox.path('c.html'),
    ];
    const { code, stdout } = await sandbox.runHere(['compare', a, b, ...flags, '--json'], {
      env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.path('summary.md') },
    });
    expect(code).toBe(1);
    const [comparison] = stdout.split('\n').map((line) => (line === '' ? undefined : JSON.parse(line)));
    expect(comparison).toMatchObject({ type: 'comparison', kind: 'load', verdict: 'worse', exitCode: 1 });
    expect(comparison.figures[0]).toMatchObject({
      name: 'first-audio:p95',
      change: 'worse',
      tolerance: 'first-audio:p95<10%',
    });
    expect(sandbox.read('c.xml')).toMatch(/<testcase name="first-audio:p95"[\s\S]*<failure type="worse"/);
    expect(sandbox.read('c.html')).toMatch(/<p class="word">Worse<\/p>[\s\S]*1 figure got worse/);
    expect(sandbox.read('summary.md')).toMatch(
      /### ❌ voicectl compare[\s\S]*\| \*\*WORSE\*\* \| first-audio:p95 \|/,
    );
  });

  test('prints what it found even if the page cannot be written; a worse result takes precedence', async () => {
    const [a, b] = [sandbox.write('a.json', result(400)), sandbox.write('b.json', result(480, 2))];
    const compare = (...flags: string[]) =>
      sandbox.runHere(['compare', a, b, '--html', '/dev/full', ...flags]);
    const worse = await compare('--tolerance', 'first-audio:p95<10%');
    expect(worse.code).toBe(1);
    expect(worse.stdout).toMatch(/^WORSE .*1 figure got worse by more than is allowed\n/);
    expect(worse.stderr).toMatch(/^! .*\/dev\/full.*\nvoicectl: 1 figure got worse/m);
    const unknown = await compare('--json');
    expect(unknown.code).toBe(8);
    expect(JSON.parse(unknown.stdout.split('\n')[0] ?? '')).toMatchObject({
      verdict: 'unknown',
      exitCode: 8,
    });
    expect(unknown.stdout).toMatch(/"type":"error".*Cannot write \/dev\/full/);
  });

  test('exits with 9 if one run is not valid, and with 2 if their plans or kinds differ', async () => {
    const a = sandbox.write('a.json', result(400));
    const late = { ...JSON.parse(result(400)), counts: { ...JSON.parse(result(400)).counts, dropped: 3 } };
    const invalid = await sandbox.runHere(['compare', a, sandbox.write('late.json', JSON.stringify(late))]);
    expect(invalid.code).toBe(9);
    expect(invalid.stdout).toMatch(/^INVALID [\s\S]*this machine dropped 3 arrivals/);
    const other = sandbox.write('other.json', result(400).replace('"task":"talk"', '"task":"listen"'));
    const plan = await sandbox.runHere(['compare', a, other]);
    expect(plan).toMatchObject({ code: 2, stdout: '' });
    expect(plan.stderr).toMatch(/^voicectl: Not comparable: task is talk in \S+, but listen in \S+\n/);
    const dialect = sandbox.write('d.yaml', 'token:\n  jti: false\n');
    expect((await sandbox.runHere(['compare', a, dialect])).stderr).toMatch(
      /Not comparable: .* a result of load, .* of dialect/,
    );
    expect((await sandbox.runHere(['compare', a, sandbox.path('none.json')])).code).toBe(2);
  });

  test('names the settings in which two dialects differ', async () => {
    const a = sandbox.write('a.yaml', 'token:\n  jti: true\n');
    const b = sandbox.write('b.yaml', 'token:\n  jti: false\n');
    const { code, stdout } = await sandbox.runHere(['compare', a, b]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^CHANGED .*1 setting differs\n[\s\S]*CHANGED +token\.jti {2}true → false/);
    expect((await sandbox.runHere(['compare', a, a])).code).toBe(0);
  });

  test('names rules that were followed before', async () => {
    const check = ['check', '--local', '--rule', 'R41', '--json'];
    const before = await sandbox.runHere(check);
    const a = sandbox.write('a.jsonl', before.stdout);
    const b = sandbox.write('b.jsonl', before.stdout.replace('"verdict":"pass"', '"verdict":"fail"'));
    expect((await sandbox.runHere(['compare', a, a])).stdout).toMatch(
      /^same .*not worse: \d+ rules? as before/,
    );
    const { code, stdout } = await sandbox.runHere(['compare', a, b]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/WORSE +R\d+ {2}pass → fail/);
  });
});

describe('--baseline', () => {
  const baseline = ['--baseline', 'b.json', '--update-baseline'];

  test('requires or creates the file, and says how many runs are missing', async () => {
    const missing = await sandbox.runHere([...session, '--baseline', 'b.json']);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('--update-baseline creates a baseline');
    const { code, stderr } = await sandbox.runHere([...session, ...baseline]);
    expect(code).toBe(0);
    expect(stderr).toContain('Wrote b.json: 1 run; 4 more are needed');
    expect(JSON.parse(sandbox.read('b.json'))).toMatchObject({
      type: 'baseline',
      kind: 'stream',
      runs: [{}],
    });
    const second = await sandbox.runHere([...session, ...baseline, '--json']);
    const types = second.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    // The summary is the last line.
    expect(types.slice(-2)).toEqual(['comparison', 'summary']);
    expect(JSON.parse(sandbox.read('b.json')).runs).toHaveLength(2);
  });

  test('of a check: a rule that is broken now exits with 1, and is not added', async () => {
    const check = async (...flags: string[]) => {
      // Both use one clock, which is moved.
      const clock = createManualClock(Date.now());
      const { baseUrl } = await sandbox.serveHere(flags, { clock });
      const args = ['check', '--base-url', baseUrl, '--api-key', 'a-key-of-tests', '--rule', 'R35'];
      return sandbox.runHere([...args, ...baseline, '--junit', 'j.xml', '--html', 'page.html'], { clock });
    };
    expect((await check()).code).toBe(0);
    expect(sandbox.read('page.html')).toContain('Compared with the baseline: b.json starts with this run.');
    expect((await check()).stdout).toMatch(/same .*not worse: 1 rule as before/);
    expect(sandbox.read('page.html')).toContain('not worse: 1 rule as before.');
    const kept = sandbox.read('b.json');
    const { code, stdout, stderr } = await check('--fault', 'connected-unknown');
    expect(stdout).toMatch(/WORSE .*1 rule got worse[\s\S]*R35 {2}pass → fail/);
    expect(code).toBe(1);
    expect(stderr).toContain('This run was not added to b.json');
    expect(sandbox.read('b.json')).toBe(kept);
    expect(sandbox.read('j.xml')).toContain('voicectl.compare');
    expect(sandbox.read('page.html')).toMatch(
      /<p class="word">No<\/p>[\s\S]*id="R35"[\s\S]*aria-label="Verdicts that got worse"[\s\S]*R35[\s\S]*pass → fail/,
    );
  });

  test('of load: the page shows the figures that got worse before the run itself', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const load = (...flags: string[]) =>
      sandbox.runHere([
        ...['load', '--base-url', baseUrl, '--sessions', '3', '--arrival', 'burst:3', '--task', 'tokens'],
        ...['--processes', 'none', '--baseline', 'b.json', '--html', 'page.html', ...flags],
      ]);
    // A run for which this machine was too busy starts no baseline.
    for (let tries = 0; tries < 5 && (await load('--update-baseline')).code === 9; tries += 1);
    const { runs, ...rest } = JSON.parse(sandbox.read('b.json'));
    const quick = {
      ...runs[0],
      figures: [{ name: 'token:p50', value: 0.001, noise: 0, isLowerBound: false }],
    };
    sandbox.write('b.json', JSON.stringify({ ...rest, runs: Array(6).fill(quick) }));
    const { code, stdout } = await load();
    expect([1, 9]).toContain(code);
    expect(stdout).toMatch(code === 1 ? /^WORSE .*1 figure got worse beyond the noise$/m : /^INVALID/m);
    expect(sandbox.read('page.html')).toMatch(
      code === 1
        ? /<p class="word">Worse<\/p>[\s\S]*aria-label="What got worse"[\s\S]*token:p50[\s\S]*<h2>Times/
        : /<p class="word">Not valid<\/p>[\s\S]*token:p50/,
    );
  });

  test('of a drill', async () => {
    const asks = `fetch(process.env.VOICECTL_BASE_URL + '/api/websocket-voice/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: process.env.VOICECTL_API_KEY, deviceId: 'd1' }),
    })`;
    const device = [process.execPath, '-e', asks];
    const drill = ['drill', '--situation', 'D1', '--json', ...baseline, '--', ...device];
    expect((await sandbox.runHere(drill)).code).toBe(0);
    const { code, stdout } = await sandbox.runHere(drill);
    expect(code).toBe(0);
    expect(stdout).toMatch(/"type":"comparison".*"verdict":"same"[^\n]*\n\{"type":"summary"/);
  });

  test('is neither created nor extended by a run that has failed', async () => {
    const failing = [...session, ...baseline, '--expect-audio', '60s'];
    const begun = await sandbox.runHere(failing);
    expect(begun.code).not.toBe(0);
    expect(begun.stderr).toContain('b.json was not created: this run failed');
    await sandbox.runHere([...session, ...baseline]);
    const kept = sandbox.read('b.json');
    expect((await sandbox.runHere(failing)).stderr).toContain('This run was not added to b.json');
    expect(sandbox.read('b.json')).toBe(kept);
  });

  test('does not accept the same result twice', async () => {
    sandbox.write('a.json', result(400));
    const merge = () => sandbox.runHere(['load', 'merge', 'a.json', ...baseline]);
    expect((await merge()).stderr).toContain('Wrote b.json: 1 run;');
    expect((await merge()).stderr).toContain('b.json already contains this run');
    expect(JSON.parse(sandbox.read('b.json')).runs).toHaveLength(1);
  });

  test('that cannot be written does not prevent the comparison from being printed', async () => {
    let isReplaced = false;
    // Once the baseline was read, a folder takes its place.
    const { baseUrl } = await startEmulator({
      reply: 'echo',
      onEvent({ type }) {
        if (type !== 'token-issued' || !isReplaced) return;
        rmSync(sandbox.path('b.json'));
        mkdirSync(sandbox.path('b.json'));
      },
    });
    const run = [
      ...['stream', '--file', 'barge-in.wav', '--base-url', baseUrl, '--pace', 'max'],
      ...['--tail', '0', '--settle', '200ms', ...baseline],
    ];
    await sandbox.runHere(run);
    isReplaced = true;
    const { code, stdout } = await sandbox.runHere([...run, '--html', 'page.html', '--json']);
    expect(code).toBe(8);
    expect(stdout).toMatch(
      /"type":"comparison".*"verdict":"unknown".*"exitCode":8\}\n\{"t":[\d.]+,"type":"summary"/,
    );
    expect(stdout).toContain('b.json: it is a folder"');
    expect(sandbox.read('page.html')).toContain('<h2>Did it get worse?</h2>');
  });

  test('with a time of 0 is refused', async () => {
    await sandbox.runHere([...session, ...baseline]);
    sandbox.write('b.json', sandbox.read('b.json').replace(/"value":[\d.]+/, '"value":0'));
    const { code, stderr } = await sandbox.runHere([...session, '--baseline', 'b.json']);
    expect(code).toBe(2);
    expect(stderr).toContain('expected a time above 0');
  });

  test('that is not a baseline is refused before any request', async () => {
    sandbox.write('b.json', '{"type":"baseline","format":1}');
    const { code, stdout, stderr } = await sandbox.runHere([...session, '--baseline', 'b.json']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^voicectl: b\.json: kind: missing/);
  });
});

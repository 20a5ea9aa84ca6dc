import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createKnownService, type Known } from '../../../bench/load/known-service.js';
import { readFault } from '../../../src/protocol/read-fault.ts';
import { createClip } from '../../../src/runs/load/clip.ts';
import { createTimes } from '../../../src/runs/load/histogram.ts';
import type { LoadResult } from '../../../src/runs/load/result.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { runInProcess } from '../../helpers/in-process.ts';
import { createManualClock, type ManualClock } from '../../helpers/manual-clock.ts';
import { fixture, fixturePcm, setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const startEmulator = setUpEmulators();
const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const summaryOf = (stdout: string) => linesOf(stdout).find(({ type }) => type === 'summary');
const resultAt = (name: string): LoadResult => JSON.parse(sandbox.read(name));

/** `load` in the process of the test: others do not have its clock. */
const command = ['load', '--processes', 'none', '--base-url'];

/** Says the shortest of the sounds that a reply follows, unless `args` has another. */
const sound = ['--file', fixture('barge-in.wav')];

/** Runs `load` against an emulator on the same clock, which is moved. */
async function load(
  args: readonly string[],
  options: Parameters<typeof startEmulator>[0] = {},
  env: Record<string, string> = {},
  input?: Buffer,
) {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock, reply: 'tone', ...options });
  const said = args.includes('--file') ? [] : sound;
  const line = [...command, emulator.baseUrl, ...said, ...args];
  const ended = await runInProcess(line, { clock, env, ...(input && { input }) });
  return { ...ended, emulator };
}

describe('with --expect-clean', () => {
  const clean = ['--sessions', '1', '--expect-clean'];
  const reply = `file:${fixture('question.wav')}` as const;

  test('a run with clean voices passes, with its limit among the others', async () => {
    const { code, stdout } = await load(clean, { reply });
    expect(stdout).toMatch(/^pass {5}unclean<=0: 0$/m);
    expect(code).toBe(0);
  });

  test('a session with a finding in its reply fails, and so does the run', async () => {
    const faults = [readFault('clicks:every=1s')];
    const { code, stdout } = await load(clean, { reply, faults });
    expect(stdout).toMatch(/^FAIL {5}unclean<=0: 1$/m);
    expect(stdout).toContain('unclean-audio × 1');
    expect(code).toBe(1);
    const allowed = await load([...clean, '--threshold', 'unclean<=100%'], { reply, faults });
    expect(allowed.code).toBe(0);
  });

  test('an echo is not judged: it is the voice of the user', async () => {
    const { code, stdout } = await load(clean, { reply: 'echo', faults: [readFault('clicks:every=1s')] });
    expect(stdout).toMatch(/^pass {5}unclean<=0: 0$/m);
    expect(code).toBe(0);
  });

  test.each([
    [['--threshold', 'unclean<1%'], '"unclean<1%" needs a run with --expect-clean'],
    [['--expect-clean', '--task', 'tokens'], '--expect-clean needs --task talk or barge-in or listen'],
  ])('%s is refused: nobody would listen', async (flags, message) => {
    const { code, stderr } = await load(['--sessions', '1', ...flags]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('a run', () => {
  test('prints its plan and cost first, then the times, and that it is valid', async () => {
    const { code, stdout } = await load(['--sessions', '11', '--arrival', 'burst:11', '--seed', '5']);
    expect(stdout).toMatch(/^load {5}http:\S+: talk, burst:11\/1000ms, seed 5\n/);
    expect(stdout).toContain('at most 11 tokens, 2 devices,');
    expect(stdout).toMatch(/^first-audio +11 +\d/m);
    expect(stdout).toContain('11 arrived, 11 confirmed, 11 done, 0 failed');
    expect(stdout).toContain('valid    this machine was not the bottleneck');
    expect(code).toBe(0);
  });

  test('stays within the limits of every device, as the emulator counts them', async () => {
    // With one place less a device would be refused: ten at once, and again as soon as the plan allows.
    const { code, emulator } = await load([
      ...['--sessions', '30', '--arrival', 'burst:20/15s', '--task', 'listen', '--hold', '1s'],
    ]);
    expect(code).toBe(0);
    const refused = emulator.events.filter(({ type }) => type === 'request-refused');
    expect(refused).toEqual([]);
    const perDevice = emulator.events.flatMap((event) =>
      event.type === 'stream-authorised' ? [event.connections] : [],
    );
    expect(Math.max(...perDevice)).toBe(10);
    const closes = emulator.events.flatMap((event) => (event.type === 'stream-closed' ? [event.code] : []));
    expect(closes).toHaveLength(30);
    expect(new Set(closes)).toEqual(new Set([1000]));
  });

  test('has other devices than a run with the same flags at the same moment', async () => {
    const names = async (args: readonly string[]) => {
      const { emulator } = await load(['--sessions', '2', '--task', 'tokens', '--seed', '5', ...args]);
      return emulator.events.flatMap((event) => (event.type === 'token-issued' ? [event.device] : []));
    };
    const [one, two] = [await names([]), await names([])];
    expect(one[0]).toMatch(/^load-[a-z0-9]+-[a-z0-9]{6}-1$/);
    expect(two).not.toContain(one[0]);
    // The shards of one run share their devices: they are planned for all together.
    const shard = ['--start-at', new Date(createManualClock().wall() + 2_000).toISOString(), '--shard'];
    const [first, second] = [await names([...shard, '1/2']), await names([...shard, '2/2'])];
    expect(first).toEqual(second);
    expect(await names([...shard, '1/2', '--hold', '7s'])).not.toEqual(first);
    expect(await names(['--device-prefix', 'lamp'])).toEqual(['lamp-1', 'lamp-1']);
  });

  test('is JSON lines with --json: the plan, each second, and the summary', async () => {
    const { stdout } = await load(['--sessions', '3', '--json', '--out', sandbox.path('result.json')]);
    const lines = linesOf(stdout);
    expect(lines[0]).toMatchObject({
      type: 'plan',
      task: 'talk',
      cost: { sessions: 3, tokens: 3, devices: 1 },
    });
    expect(lines[1]).toMatchObject({ type: 'progress', t: 1000 });
    const summary = lines.at(-1);
    expect(summary).toMatchObject({
      type: 'summary',
      valid: true,
      exitCode: 0,
      counts: { done: 3, failed: 0 },
    });
    expect(summary.metrics['first-audio']).toMatchObject({ count: 3, unfinished: 0 });
    const result = resultAt('result.json');
    expect(createTimes(result.metrics.token?.finished).count).toBe(3);
    expect(result.series.length).toBeGreaterThan(3);
  });

  test('with --dry-run sends nothing', async () => {
    const { code, stdout, emulator } = await load(['--sessions', '900', '--dry-run']);
    expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 0, lines: 3 });
    expect(emulator.events.map(({ type }) => type)).toEqual(['listening']);
  });

  test('states in its plan how long it takes and what it may cost', async () => {
    const flags = ['--sessions', '20', '--ramp-up', '10s', '--task', 'listen', '--hold', '30s'];
    const { stdout } = await load([...flags, '--dry-run', '--json']);
    // A session every half second, and half a minute of audio for each.
    expect(linesOf(stdout)[0]).toMatchObject({
      type: 'plan',
      arrival: 'constant:2/s',
      cost: { arrivalsMs: 9_500, audioMinutes: 10 },
    });
  });

  test('with --quiet prints no more than a result that is not good, or the plan of a dry run', async () => {
    const good = await load(['--sessions', '1', '--quiet']);
    expect(good).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const bad = await load(['--sessions', '1', '--quiet', '--threshold', 'token:max<0.001ms']);
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/^FAIL {5}token:max<0.001ms: /m);
    const plan = await load(['--sessions', '900', '--quiet', '--dry-run']);
    expect(plan.stdout.trim().split('\n')).toHaveLength(3);
  });

  test('that crosses a threshold is annotated in GitHub Actions, and in the step summary', async () => {
    const limits = ['--threshold', 'token:max<0.001ms', '--threshold', 'failed<1%'];
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.write('summary.md', '') };
    const { code, stderr } = await load(['--sessions', '4', ...limits], {}, env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^::error title=voicectl load http%3A.*%3A threshold::token:max<0.001ms: .*\nvoicectl: 1 of 2 thresholds/m,
    );
    const summary = sandbox.read('summary.md');
    expect(summary).toMatch(/^### ❌ voicectl load http/);
    expect(summary).toContain('| **FAIL** | token:max\\<0.001ms |');
    expect(summary).toContain('| pass | failed\\<1% |');
  });

  test('without a confirmed session fails in JUnit and on the page too', async () => {
    const files = ['--junit', sandbox.path('load.xml'), '--html', sandbox.path('load.html')];
    const { code } = await load(['--sessions', '1', ...files], { acceptKeys: ['another-key'] });
    expect(code).toBe(1);
    expect(sandbox.read('load.html')).toMatch(/Failed.{1,80}The session was not confirmed\./s);
    expect(sandbox.read('load.xml')).toContain(
      '<error type="threshold" message="The session was not confirmed"',
    );
    expect(sandbox.read('load.xml').match(/name="failureKind"/g)).toHaveLength(1);
  });

  test('writes JUnit and a page with each threshold and its value', async () => {
    const { code } = await load([
      ...['--sessions', '4', '--threshold', 'first-audio:p95<5s', '--threshold', 'token:max<=1ms'],
      ...['--junit', sandbox.path('load.xml'), '--html', sandbox.path('load.html')],
    ]);
    // The tokens come after the next step of the clock, which takes 5 ms, or at once.
    expect([0, 1]).toContain(code);
    expect(sandbox.read('load.xml')).toMatch(
      /<testcase name="first-audio:p95&lt;5s" classname="voicectl.load"/,
    );
    const page = sandbox.read('load.html');
    expect(page).toContain('<span>first-audio:p95&lt;5s</span>');
    expect(page).toContain('aria-label="Distribution of first-audio"');
    expect(page).not.toMatch(/<script|src=|voicectl-development-key/);
  });
});

describe('a task', () => {
  test('listen sends silence, and counts how long nothing was heard', async () => {
    const { stdout, code } = await load(['--sessions', '2', '--task', 'listen', '--hold', '2s', '--json']);
    const { counts, metrics } = summaryOf(stdout);
    expect({ code, counts }).toMatchObject({ code: 0, counts: { done: 2, turns: 0, messagesIn: 0 } });
    expect(counts.framesOut).toBeGreaterThanOrEqual(200);
    expect(metrics['first-audio']).toMatchObject({ count: 2, unfinished: 2 });
  });

  test('barge-in measures how long the interrupted reply goes on', async () => {
    const { stdout, code } = await load(['--sessions', '3', '--task', 'barge-in', '--json'], {
      reply: 'parrot',
    });
    const { counts, metrics } = summaryOf(stdout);
    expect({ code, counts }).toMatchObject({ code: 0, counts: { done: 3, turns: 6 } });
    expect(metrics.stops).toMatchObject({ count: 3, unfinished: 0 });
  });

  test('storm cuts all streams at once, and measures how long until all are back', async () => {
    const { stdout, code, emulator } = await load([
      ...['--sessions', '11', '--arrival', 'burst:11', '--task', 'storm', '--give-up', '3s', '--json'],
    ]);
    const { counts, metrics } = summaryOf(stdout);
    expect({ code, counts }).toMatchObject({ code: 0, counts: { arrived: 11, done: 11, failed: 0 } });
    expect(metrics.back).toMatchObject({ count: 11, unfinished: 0 });
    expect(metrics.token.count).toBe(22);
    expect(emulator.events.filter(({ type }) => type === 'request-refused')).toEqual([]);
  });

  test('tokens opens no stream', async () => {
    const { stdout, emulator } = await load([
      ...['--sessions', '130', '--arrival', 'burst:130', '--task', 'tokens', '--json'],
    ]);
    expect(summaryOf(stdout)).toMatchObject({ counts: { done: 130 }, facts: { cost: { devices: 3 } } });
    const types = emulator.events.map(({ type }) => type);
    expect(types.filter((type) => type === 'token-issued')).toHaveLength(130);
    expect(types).not.toContain('request-refused');
    expect(types).not.toContain('stream-opened');
  });
});

test('--file - says the WAV on standard input', async () => {
  const costOf = async (file: string, input?: Buffer) => {
    const { code, stdout } = await load(['--sessions', '1', '--file', file, '--json'], {}, {}, input);
    expect(code).toBe(0);
    return linesOf(stdout).find(({ type }) => type === 'plan').cost;
  };
  const file = fixture('barge-in.wav');
  expect(await costOf('-', readFileSync(file))).toEqual(await costOf(file));
  expect(await costOf('hello.wav')).not.toEqual(await costOf(file));
});

describe('what is refused', () => {
  test.each([
    [['--shard', '1/2'], '--shard needs --start-at'],
    [['--shard', '3/2'], '--shard'],
    [['--start-at', '2020-01-01T00:00:00Z'], 'is in the past'],
    [['--start-at', '9999999999'], '--start-at 2286-11-20T17:46:39.000Z is more than 24 days ahead'],
    [['--arrival', 'burst:5', '--ramp-up', '5s'], '--ramp-up cannot be combined with --arrival burst'],
    [['--sessions', '100', '--arrival', 'burst:100', '--devices', '9'], 'need 10 devices, not 9'],
    [
      ['--sessions', '200', '--arrival', 'ramp:10..0/s', '--ramp-up', '10s', '--dry-run'],
      'Only 50 of 200 sessions arrive',
    ],
    [['--threshold', 'first-audio<1s'], '--threshold'],
    [['--file', '-', '--api-key-file', '-'], 'Standard input cannot be both the audio and a key'],
    [['--file', '-', '--ca', '-'], 'Standard input cannot be both the audio and the certificates of --ca'],
    [['--file', '-'], 'standard input'],
  ])('%j', async (args, why) => {
    const { code, stderr } = await runInProcess(['load', ...args]);
    expect(stderr).toContain(why);
    expect(code).toBe(2);
  });

  test.each([
    ['expectClean: findings', ['--task', 'tokens']],
    ['expectClean: findings\nthreshold: unclean<1%\nabortOn: [unclean<5%, failed<9%]', ['--task', 'storm']],
    ['rampUp: 5s', ['--arrival', 'burst:5']],
    ['rampUp: 5s', ['--arrival', 'ramp:10..0/s', '--sessions', '100']],
  ])('but not what a config file has for other tasks: %j', async (config, args) => {
    const plan = async (...flags: string[]) => {
      const { code, stdout, stderr } = await runInProcess([
        'load',
        '--dry-run',
        '--json',
        '--seed',
        '1',
        ...args,
        ...flags,
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { clean, arrival, cost } = linesOf(stdout)[0];
      return { clean, arrival, cost };
    };
    expect(await plan('--config', sandbox.write('load.yaml', `${config}\n`))).toEqual(await plan());
  });

  test.each([
    ['tokens', 'first-audio:p95<5s', 'token:p95<9s'],
    ['listen', 'talk-over:max<5s', 'connect:p95<9s'],
    ['storm', 'jitter:p95<5s', 'back:p95<9s'],
    ['talk', 'yield:p95<5s', 'talk-over:max<9s'],
  ])('but no limit of a config file on what tasks other than %s measure: %s', async (task, other, own) => {
    const run = ['--sessions', '1', '--task', task, '--hold', '1s', '--give-up', '3s'];
    const config = sandbox.write('load.yaml', `threshold: ["${other}", "${own}"]\nabortOn: ["${other}"]\n`);
    const { code, stdout } = await load([...run, '--config', config]);
    expect(stdout.match(/^(pass|FAIL) .*(?=: )/gm)).toEqual([`pass     ${own}`]);
    expect(code).toBe(0);
    const given = await load([...run, '--threshold', other]);
    expect(given.stdout).toContain(`FAIL     ${other}: `);
    expect(given.code).toBe(1);
  });

  test('a limit of a config file on voices that its run could judge, but does not', async () => {
    const config = sandbox.write('load.yaml', 'threshold: [unclean<1%]\n');
    const { code, stderr } = await runInProcess(['load', '--dry-run', '--config', config]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('"unclean<1%" needs a run with --expect-clean'),
    });
  });

  test('a config file whose own ramp ends before all sessions', async () => {
    const config = sandbox.write('load.yaml', 'rampUp: 5s\narrival: ramp:10..0/s\nsessions: 100\n');
    const { code, stderr } = await runInProcess(['load', '--dry-run', '--config', config]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Only 25 of 100 sessions') });
  });

  test('but no plan, which needs neither a key nor a confirmation', async () => {
    const plan = ['load', '--base-url', 'https://voice.invalid', '--sessions', '1', '--dry-run'];
    expect(await runInProcess(plan)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 token') });
  });

  test('load beyond loopback, until its host is confirmed; the plan is printed', async () => {
    const target = ['--base-url', 'https://voice.invalid', '--sessions', '1'];
    const env = { VOICECTL_API_KEY: 'key-of-the-user' };
    const refused = await runInProcess(['load', ...target], { env });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--confirm voice.invalid') });
    expect(refused.stdout).toContain('at most 1 token,');
    const wrong = await runInProcess(['load', ...target, '--confirm', 'other.invalid'], { env });
    expect(wrong.code).toBe(2);
    const local = ['--base-url', 'http://127.0.0.1:1', '--ws-url', 'wss://voice.invalid', '--sessions', '1'];
    const streams = await runInProcess(['load', ...local, '--confirm', '127.0.0.1'], { env });
    expect(streams).toMatchObject({ code: 2, stderr: expect.stringContaining('--confirm voice.invalid') });
  });
});

async function startKnown(known: Partial<Known>, clock: ManualClock) {
  const { speechEnd } = createClip(fixturePcm('barge-in.wav'));
  const all = {
    tokenMs: 0,
    firstAudioMs: 300,
    spreadMs: 0,
    refused: 0,
    cut: 0,
    speechFrames: speechEnd + 1,
    ...known,
  };
  const service = createKnownService(all, clock);
  const baseUrl = await listen(service.server);
  return { ...service, baseUrl };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const nearestRank = (values: readonly number[], percent: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil((percent / 100) * values.length) - 1)] ?? 0;

describe('what is measured', () => {
  test('matches what the service itself logged: first audio, refusals and cuts', async () => {
    const clock = createManualClock();
    const { log, baseUrl } = await startKnown(
      { tokenMs: 100, spreadMs: 50, refused: 0.08, cut: 0.04 },
      clock,
    );
    const { stdout } = await runInProcess(
      [
        ...[...command, baseUrl, ...sound, '--sessions', '50', '--arrival', 'poisson:60/s', '--seed', '3'],
        '--json',
      ],
      { clock },
    );
    const { counts, failures, metrics } = summaryOf(stdout);
    expect(log.refused.length).toBeGreaterThan(0);
    expect(log.cut.length).toBeGreaterThan(0);
    expect(counts).toMatchObject({ arrived: 50, failed: log.refused.length + log.cut.length });
    expect(failures).toEqual({ 'token-refused': log.refused.length, 'stream-broken': log.cut.length });
    expect(metrics['first-audio']).toMatchObject({
      count: log.firstAudio.length + log.cut.length,
      unfinished: log.cut.length,
    });
    // The service answers at its own steps of the clock: a step is 5 ms.
    for (const [metric, truth] of [
      ['token', [...log.token, ...log.refused]],
      ['first-audio', [...log.firstAudio, ...log.cut]],
    ] as const) {
      for (const percent of [50, 90, 95]) {
        const true_ = nearestRank(truth, percent);
        const { ms } = metrics[metric].statistics[`p${percent}`];
        expect(Math.abs(ms - true_), `${metric} p${percent}: ${ms} for ${true_}`).toBeLessThanOrEqual(
          5 + 0.02 * true_,
        );
      }
    }
  });

  test('shows a service that stood still for 5 s, though arrivals went on as planned', async () => {
    const clock = createManualClock();
    const { server, baseUrl } = await startKnown({}, clock);
    const frozen = { from: 0, until: 0 };
    // What arrives while the service stands still is handled when it goes on.
    const [handle] = server.listeners('request') as ((...args: unknown[]) => void)[];
    server.removeAllListeners('request');
    server.on('request', (...args) => {
      frozen.from ||= clock.now() + 1_000;
      frozen.until ||= frozen.from + 5_000;
      const now = clock.now();
      const isFrozen = now >= frozen.from && now < frozen.until;
      if (isFrozen) clock.after(frozen.until - now, () => handle?.(...args));
      else handle?.(...args);
    });
    const { stdout } = await runInProcess(
      [...command, baseUrl, '--sessions', '100', '--arrival', 'constant:10/s', '--task', 'tokens', '--json'],
      { clock },
    );
    const { counts, metrics } = summaryOf(stdout);
    expect(counts).toMatchObject({ arrived: 100, done: 100 });
    const { statistics } = metrics.token;
    // The fifty that were due meanwhile waited for 5 s to nothing, evenly.
    expect(statistics.max.ms).toBeGreaterThanOrEqual(4_940);
    expect(statistics.p99.ms).toBeGreaterThan(4_700);
    expect(statistics.p50.ms).toBeLessThan(500);
    expect(statistics.p90.ms).toBeGreaterThan(3_800);
  });

  test('counts sessions that are given up, with their age', async () => {
    const clock = createManualClock();
    const { baseUrl } = await startKnown({ tokenMs: 60_000 }, clock);
    const { code, stdout } = await runInProcess(
      [...command, baseUrl, '--sessions', '5', '--give-up', '2s', '--threshold', 'token:p50<5s', '--json'],
      { clock },
    );
    const { metrics, failures, thresholds } = summaryOf(stdout);
    expect(failures).toEqual({ timeout: 5 });
    expect(metrics.token.unfinished).toBe(5);
    expect(metrics.token.statistics.p50.ms).toBeGreaterThan(1_990);
    expect(metrics.token.statistics.p50.isLowerBound).toBe(true);
    // Though 2 s are less than 5 s: nobody knows how long it would have been.
    expect(thresholds[0]).toMatchObject({ holds: false, isLowerBound: true });
    expect(code).toBe(1);
  });
});

test('--abort-on ends the run as soon as its threshold is crossed', async () => {
  const clock = createManualClock();
  const { baseUrl } = await startKnown({ refused: 1 }, clock);
  const { code, stdout } = await runInProcess(
    [
      ...[...command, baseUrl, '--sessions', '500', '--abort-on', 'failed<50%', '--json'],
      ...['--junit', sandbox.path('load.xml')],
    ],
    { clock },
  );
  const { counts, stopped, thresholds } = summaryOf(stdout);
  expect(code).toBe(1);
  expect(stopped).toBe('--abort-on failed<50%');
  expect(sandbox.read('load.xml')).toContain('<error type="threshold" message="--abort-on failed&lt;50%"');
  expect(counts.arrived).toBeLessThan(100);
  expect(thresholds).toEqual([expect.objectContaining({ text: 'failed<50%', holds: false, value: 1 })]);
});

test('a run that --timeout ended is a timeout in JUnit too', async () => {
  const junit = ['--junit', sandbox.path('load.xml')];
  const { code } = await load(['--sessions', '50', '--arrival', 'constant:1/s', '--timeout', '2s', ...junit]);
  expect(code).toBe(7);
  const xml = sandbox.read('load.xml');
  expect(xml).toContain('<error type="timeout" message=');
  expect(xml).toContain('<property name="failureKind" value="timeout"/>');
});

describe('shards that start at the same time', () => {
  /** Each on a clock of its own that begins at the same moment, as if on another machine. */
  async function runShards(numbers: readonly number[]) {
    const emulator = await startEmulator();
    const args = [
      ...command,
      emulator.baseUrl,
      '--task',
      'tokens',
      '--sessions',
      '7',
      '--arrival',
      'poisson:5/s',
    ];
    for (const number of numbers) {
      const clock = createManualClock();
      const startAt = new Date(clock.wall() + 2_000).toISOString();
      const shard = [
        '--start-at',
        startAt,
        '--shard',
        `${number}/2`,
        '--out',
        sandbox.path(`${number}.json`),
      ];
      const { code } = await runInProcess([...args, ...shard], { clock });
      expect(code).toBe(0);
    }
    const paths = numbers.map((number) => sandbox.path(`${number}.json`));
    return runInProcess([
      'load',
      'merge',
      ...paths,
      '--threshold',
      'failed<1',
      '--out',
      sandbox.path('all.json'),
    ]);
  }

  test('make one result', async () => {
    const { code, stdout } = await runShards([1, 2]);
    expect(stdout).toContain('7 arrived, 7 confirmed, 7 done');
    expect(stdout).toContain('pass     failed<1: 0');
    expect(code).toBe(0);
    expect(resultAt('1.json').counts.arrived).toBe(4);
    expect(resultAt('all.json')).toMatchObject({ shards: { has: [1, 2], of: 2 }, counts: { arrived: 7 } });
  });

  test('make no valid result if one is missing', async () => {
    const { code, stderr } = await runShards([2]);
    expect(stderr).toContain('shard 1 of 2 is missing');
    expect(stderr).not.toContain('Use more processes');
    expect(code).toBe(9);
  });

  test('know whether their voices were judged', async () => {
    await runShards([1, 2]);
    const merge = ['load', 'merge', sandbox.path('1.json'), sandbox.path('2.json')];
    expect(await runInProcess([...merge, '--threshold', 'unclean<1%'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"unclean<1%" needs a run with --expect-clean'),
    });
    const judged = ['1.json', '2.json'].map((name) =>
      sandbox.write(name, sandbox.read(name).replace('"facts":{', '"facts":{"clean":"findings",')),
    );
    const { code, stdout } = await runInProcess(['load', 'merge', ...judged]);
    expect(stdout).toContain('pass     unclean<=0: 0');
    expect(code).toBe(0);
  });

  test('are not judged by thresholds of a config file that are for other tasks', async () => {
    await runShards([1, 2]);
    const config = sandbox.write('load.yaml', 'threshold: [unclean<1%, "back:p95<5s", failed<1]\n');
    const merge = ['load', 'merge', sandbox.path('1.json'), sandbox.path('2.json'), '--config', config];
    const { code, stdout, stderr } = await runInProcess(merge);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('pass     failed<1: 0');
    expect(stdout).not.toMatch(/unclean|back/);
  });

  test('exit with 2 if one was changed, and nothing from it reaches the terminal', async () => {
    await runShards([1, 2]);
    const forged = sandbox.read('1.json').replace('"confirmed":4', '"confirmed":"\\u001b[2J"');
    const path = sandbox.write('forged.json', forged);
    const { code, stdout, stderr } = await runInProcess(['load', 'merge', path, sandbox.path('2.json')]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('forged.json: counts.confirmed: "\\u001b[2J", expected number');
    expect(stderr).not.toContain('\u001b');
  });
});

describe('the metrics', () => {
  test('on a port in use end a run before it starts, with its processes', async () => {
    const emulator = await startEmulator();
    const port = new URL(emulator.baseUrl).port;
    const flags = ['--sessions', '1', '--processes', '2', '--metrics', port];
    const { code, stderr } = await sandbox.run(['load', '--base-url', emulator.baseUrl, ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain('--metrics 0');
    expect(stderr).not.toContain('--port');
  });

  test('need a port if an address may scrape them', async () => {
    const flags = ['--sessions', '1', '--metrics-allow', '127.0.0.1'];
    const { code, stderr } = await runInProcess([...command, 'http://127.0.0.1:1', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain('--metrics-allow needs --metrics PORT');
  });
});

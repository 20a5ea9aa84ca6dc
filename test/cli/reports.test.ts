import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Ended, fixture, jsonLines, only, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const file = ['--file', fixture('barge-in.wav')];
const quick = ['--local', '--reply', 'echo', '--pace', 'max', '--tail', '0', '--settle', '200ms'];
const stream = (...flags: string[]) => sandbox.runHere(['stream', ...file, ...quick, ...flags]);

const counts = (xml: string) =>
  /<testsuites name="voicectl" tests="(\d+)" failures="(\d+)" errors="(\d+)"/.exec(xml)?.slice(1).map(Number);
const types = (xml: string) =>
  [...xml.matchAll(/<(?:failure|error) type="([\w-]+)"/g)].map(([, type]) => type);

/** A service that takes connections and never answers. */
async function listenSilently() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  const asked = once(server, 'connection');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  sandbox.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function expectUnfinished(command: string) {
  const xml = sandbox.read('j.xml');
  expect(counts(xml)).toEqual([1, 0, 1]);
  expect(types(xml)).toEqual(['cancelled']);
  expect(xml).toContain(`classname="voicectl.${command}"`);
  expect(xml).toContain('The run did not finish');
}

describe('--junit FILE', () => {
  test('contains the session and each expectation, whether it held or not', async () => {
    const ended = await stream('--expect-audio', '--expect-event', 'transcript', '--junit', 'j.xml');
    expect(ended.code).toBe(1);
    const xml = sandbox.read('j.xml');
    expect(counts(xml)).toEqual([3, 1, 0]);
    expect(types(xml)).toEqual(['missing-event']);
    expect(xml).toContain('<testsuite name="stream barge-in.wav"');
  });

  test.each([
    ['a session that failed', ['--base-url', 'http://127.0.0.1:9', '--retries', '0'], 4, 'unreachable'],
    ['a source that cannot be read', ['--local', '--file', 'missing.wav'], 2, 'usage'],
    ['a flag without effect', ['--reply', 'echo'], 2, 'usage'],
  ])('is written for %s too', async (_what, flags, code, kind) => {
    const ended = await sandbox.runHere(['stream', ...file, ...flags, '--junit', 'j.xml']);
    expect(ended.code).toBe(code);
    const xml = sandbox.read('j.xml');
    expect(types(xml)).toEqual([kind]);
    expect(counts(xml)?.[2]).toBe(1);
  });

  test('says that a killed run did not finish', async () => {
    const silent = await listenSilently();
    const running = sandbox.start(['stream', ...file, '--base-url', silent.baseUrl, '--junit', 'j.xml']);
    await silent.asked;
    running.signal('SIGKILL');
    expect((await running.ended).code).toBe(137);
    expectUnfinished('stream');
  });

  test.each([
    ['stream', [...file, '--repeat', '3']],
    ['check', []],
    ['load', ['--sessions', '1', '--processes', 'none']],
  ])('says so from the start of %s %j', async (command, flags) => {
    const silent = await listenSilently();
    const at = ['--base-url', silent.baseUrl, '--junit', sandbox.path('j.xml')];
    await sandbox.startHere([command, ...flags, ...at]);
    await silent.asked;
    expectUnfinished(command);
  });

  test('says so from the start of a drill, too', async () => {
    const silent = await listenSilently();
    const args = [
      'drill',
      '--situation',
      'D1',
      '--junit',
      sandbox.path('j.xml'),
      '--',
      process.execPath,
      '-e',
    ];
    await sandbox.startHere([...args, `fetch('${silent.baseUrl}')`]);
    await silent.asked;
    expectUnfinished('drill');
  });

  test.each([
    ['check', ['check', '--local', '--rule', 'R1', '--expected', 'missing']],
    ['drill', ['drill', '--parallel', '2']],
    ['load', ['load', '--sessions', '1', '--file', 'missing.wav']],
    ['load merge', ['load', 'merge', 'missing.json']],
  ])('is written for a %s that cannot begin', async (_name, args) => {
    const { code } = await sandbox.runHere([...args, '--junit', 'j.xml']);
    expect(code).toBe(2);
    expect(types(sandbox.read('j.xml'))).toEqual(['usage']);
  });

  test('of an interrupted run says so', async () => {
    const args = ['stream', '--raw', '/dev/zero', '--local', '--junit', sandbox.path('j.xml')];
    const running = await sandbox.startHere(args);
    await running.line(/ live$/);
    running.signal('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(sandbox.read('j.xml')).toContain('<error type="cancelled" message="Interrupted"');
  });

  test.each([
    ['a missing folder', 'no/folder/j.xml'],
    ['a folder', '.'],
    ['a full disk', '/dev/full'],
  ])('in %s: exit 8, although the session succeeded', async (_what, path) => {
    const { code, stderr } = await stream('--junit', path);
    expect({ code, stderr }).toEqual({
      code: 8,
      stderr: expect.stringMatching(/^voicectl: Cannot write .*\n$/),
    });
  });

  test('that cannot be written does not hide why the session failed', async () => {
    const { code, stderr } = await stream('--expect-event', 'x', '--junit', '/dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^! Cannot write \/dev\/full: .*\nvoicectl: Not as expected/);
  });

  test.each([
    ['--file', ['stream', '--local', '--file', 'in']],
    ['--file', ['load', '--file', 'in']],
    ['--raw', ['stream', '--local', '--raw', 'in', '--retries', 'many']],
    ['--api-key-file', ['stream', '--file', 'hello.wav', '--api-key-file', 'in']],
    ['--dialect', ['stream', '--local', '--file', 'hello.wav', '--dialect', 'in']],
    ['--expected', ['check', '--local', '--expected', 'in']],
    ['--baseline', ['check', '--local', '--baseline', 'in']],
    ['a sound of --expect-file', ['stream', '--local', '--expect-file', 'talk.yaml']],
    ['<before>', ['compare', 'in', 'other.json']],
    ['<file...>', ['load', 'merge', 'other.json', 'in']],
  ])('does not overwrite %s, not even with the refusal', async (input, command) => {
    sandbox.write('in', 'the input');
    sandbox.write('talk.yaml', 'turns: [{ say: in }]');
    symlinkSync(sandbox.path('in'), sandbox.path('j.xml'));
    const { code, stderr } = await sandbox.runHere([...command, '--junit', 'j.xml']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`--junit names the same file as ${input}`),
    });
    expect(sandbox.read('j.xml')).toBe('the input');
  });

  test('contains neither the service’s token nor the key', async () => {
    const serve = await sandbox.serveHere(['--reply', 'echo', '--accept-key', 'canary-key-41']);
    const args = ['--base-url', serve.baseUrl, '--pace', 'max', '--tail', '0', '--settle', '200ms'];
    const env = { VOICECTL_API_KEY: 'canary-key-41' };
    const ended = await sandbox.runHere(['stream', ...file, ...args, '--junit', 'j.xml'], { env });
    expect(ended.code).toBe(0);
    expect(sandbox.read('j.xml')).not.toMatch(/canary|eyJ/);
  });
});

test.each([
  ['load', ['--sessions', '1', '--out', 'missing/f']],
  ['learn', ['--out', 'missing/f']],
  ['check', ['--html', 'missing/f', '--junit', 'j.xml']],
  ['check', ['--junit', 'missing/f']],
  ['check', ['--baseline', 'missing/f', '--update-baseline']],
  ['stream', [...file, '--html', 'missing/f']],
])('if a file of %s %j cannot be written, it is refused before any request', async (command, flags) => {
  const serve = await sandbox.serveHere();
  const ended = await sandbox.runHere([command, '--base-url', serve.baseUrl, ...flags]);
  expect(ended).toMatchObject({ code: 8, stderr: expect.stringContaining('its folder does not exist') });
  expect(ended.stderr).toContain('Cannot write missing/f');
  serve.signal('SIGINT');
  await serve.ended;
  expect(serve.stdout).not.toContain('token-');
});

test('what was learned is printed if its file turns out to be full', async () => {
  const { baseUrl } = await sandbox.serveHere();
  const { code, stdout, stderr } = await sandbox.runHere([
    'learn',
    '--base-url',
    baseUrl,
    '--out',
    '/dev/full',
  ]);
  expect({ code, stderr }).toEqual({ code: 8, stderr: expect.stringContaining('Cannot write /dev/full') });
  expect(stdout).toMatch(/^stream:$/m);
});

describe('--html FILE that turns out to be full', () => {
  const html = ['--html', '/dev/full'];
  const cannot = 'Cannot write /dev/full: ';

  test('is 8 if the session succeeds, and is reported beside the failure of one that does not', async () => {
    const good = await stream('--expect-audio', ...html);
    expect(good).toMatchObject({ code: 8, stderr: expect.stringContaining(cannot) });
    await stream('--expect-audio', ...html, '--junit', 'j.xml');
    expect(sandbox.read('j.xml')).toContain('<property name="exitCode" value="8"/>');
    expect(sandbox.read('j.xml')).toContain('<property name="failureKind" value="local-io"/>');
    const failed = await stream('--expect-audio', '--expect-event', 'transcript', ...html);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('Not as expected: expect-event: expected transcript');
    expect(failed.stderr).toContain(`! ${cannot}`);
  });

  test('hides neither the summary nor the verdicts of load and check', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const load = [
      'load',
      '--base-url',
      baseUrl,
      '--sessions',
      '1',
      '--task',
      'tokens',
      '--processes',
      'none',
    ];
    const crossed = await sandbox.runHere([...load, '--threshold', 'token:p50<0.001ms', ...html]);
    // A run for which this machine was too busy is not valid: 9.
    expect([1, 9]).toContain(crossed.code);
    expect(crossed.stdout).toContain('token:p50');
    expect(crossed.stderr).toContain(`! ${cannot}`);
    const check = ['check', '--base-url', baseUrl, '--rule', 'R4'];
    const passed = await sandbox.runHere([...check, ...html]);
    expect(passed).toMatchObject({ code: 8, stderr: expect.stringContaining(cannot) });
    expect(passed.stdout).toMatch(/1 pass/);
    const { stdout } = await sandbox.runHere([...check, ...html, '--json']);
    expect(only(jsonLines(stdout), 'summary')).toMatchObject({ exitCode: 8 });
  });
});

describe('--repeat', () => {
  const summary = ({ stdout }: Ended) => only(jsonLines(stdout), 'summary');

  test('runs that many sessions, and ends with their combined result', async () => {
    const ended = await stream(
      '--repeat',
      '3',
      '--warmup',
      '1',
      '--expect-audio',
      '--json',
      '--junit',
      'j.xml',
    );
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    const lines = jsonLines(ended.stdout);
    expect(lines.filter(({ type }) => type === 'run')).toMatchObject([
      { run: 1, warmup: true, ok: true },
      { run: 1, warmup: false, ok: true },
      { run: 2, warmup: false, ok: true },
      { run: 3, warmup: false, ok: true, verdicts: [{ name: 'expect-audio', ok: true }] },
    ]);
    expect(lines.at(-1)).toMatchObject({
      type: 'summary',
      ok: true,
      runs: 3,
      passed: 3,
      passRate: 1,
      warmup: 1,
      failure: null,
      spread: { firstAudioMs: { count: 3, min: expect.any(Number), p95: expect.any(Number) } },
      verdicts: [{ name: 'expect-audio', ok: true, measured: '3 of 3 runs' }],
    });
    expect(counts(sandbox.read('j.xml'))).toEqual([6, 0, 0]);
    expect(sandbox.read('j.xml').match(/<testsuite /g)).toHaveLength(3);
  });

  test('in plain output is one line per run, and a table', async () => {
    const { stdout } = await stream('--repeat', '2', '--no-color');
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^run 1 +pass {2}\d+\.\d s, first audio [\d.]+ ms, received 1\.10 s$/);
    expect(lines[1]).toMatch(/^run 2 +pass/);
    expect(stdout).toMatch(/^runs +2 of 2 passed \(100\.0 %\)$/m);
    expect(stdout).toMatch(/^first audio +min [\d.]+ ms, median [\d.]+ ms, p95 [\d.]+ ms, max [\d.]+ ms$/m);
    expect(stdout).toMatch(/^result +ok in \d/m);
  });

  test('fails if any run does, with all of their kinds', async () => {
    const ended = await stream('--repeat', '2', '--expect-event', 'transcript', '--json');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(
      /^voicectl: 2 of 2 runs failed \(missing-event × 2\); the first: Not as expected/,
    );
    expect(summary(ended)).toMatchObject({ ok: false, passed: 0, failures: { 'missing-event': 2 } });
    expect(jsonLines(ended.stdout).at(-1)).toMatchObject({
      type: 'error',
      kind: 'missing-event',
      exitCode: 1,
    });
  });

  test('counts a connection that fails as a run that failed', async () => {
    const args = ['--base-url', 'http://127.0.0.1:9', '--retries', '0', '--repeat', '2', '--json'];
    const ended = await sandbox.runHere(['stream', ...file, ...args]);
    expect(ended.code).toBe(4);
    expect(summary(ended)).toMatchObject({ runs: 2, passed: 0, failures: { unreachable: 2 } });
  });

  test.each([
    ['a stream that would have to be read again', ['--file', '-', '--repeat', '2']],
    ['one file for several sessions', [...file, '--repeat', '2', '--out', 'o.wav']],
    ['one token for several sessions', [...file, '--warmup', '1', '--token-from', 'TOKEN']],
    ['no session', [...file, '--repeat', '0']],
  ])('with %s: exit 2', async (_what, flags) => {
    const input = readFileSync(fixture('barge-in.wav'));
    const ended = await sandbox.runHere(['stream', ...flags, ...quick], { input, env: { TOKEN: 'a.b.c' } });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^voicectl: /),
    });
  });
});

describe('within GitHub Actions', () => {
  const env = (path: string) => ({ GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path });

  test('failures are annotated on standard error, so that standard output stays JSON', async () => {
    const path = sandbox.write('summary.md', 'before\n');
    const args = ['stream', ...file, ...quick, '--expect-event', 'transcript', '--json'];
    const ended = await sandbox.runHere(args, { env: env(path) });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(
      /^::error title=voicectl stream barge-in\.wav%3A missing-event::expect-event: .*\nvoicectl: /,
    );
    expect(jsonLines(ended.stdout).at(-1)).toMatchObject({ type: 'error' });
    expect(sandbox.read('summary.md')).toMatch(/^before\n### ❌ voicectl stream barge-in\.wav\n/);
  });

  test('a successful run is in the step summary, and annotates nothing', async () => {
    const path = sandbox.write('summary.md', '');
    const ended = await sandbox.runHere(['stream', ...file, ...quick, '--repeat', '2'], { env: env(path) });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    expect(sandbox.read('summary.md')).toMatch(/^### ✅ .*\n\n2 of 2 runs passed\.\n/);
  });

  test('a step summary that cannot be written is a note, not a failure', async () => {
    const ended = await sandbox.runHere(['stream', ...file, ...quick], { env: env('/no/such/summary.md') });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^! Cannot write the step summary: .*\n$/),
    });
  });

  test.each([
    ['check', ['check', '--local', '--rule', 'R1', '--expected', 'missing']],
    ['load', ['load', '--sessions', '1', '--file', 'missing.wav']],
  ])('a %s that cannot begin is annotated', async (name, args) => {
    const ended = await sandbox.runHere(args, { env: env('') });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(new RegExp(`^::error title=voicectl ${name} .*%3A usage::.*missing`));
  });

  test('elsewhere nothing of this is printed', async () => {
    const ended = await sandbox.runHere(['stream', ...file, ...quick, '--expect-event', 'x'], {
      env: { GITHUB_STEP_SUMMARY: sandbox.write('summary.md', '') },
    });
    expect(ended.stderr).not.toContain('::');
    expect(sandbox.read('summary.md')).toBe('');
  });
});

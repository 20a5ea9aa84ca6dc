import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { situations } from '../../../src/conformance/drill/catalogue.ts';
import { runInProcess } from '../../helpers/in-process.ts';
import { jsonLines } from '../../helpers/voicectl.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-drill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env.PATH ?? '' };
const run = (...argv: string[]) => runInProcess(['drill', ...argv], { env });
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkIn0.c2lnbmF0dXJl';
const padded = 'eyJhbGciOiJIUzI1NiJ9==.eyJzdWIiOiJkIn0=.c2ln+bmF0/dXJl=';
const otherKey = 'an/other+key=';
/** A device that sends a form, and prints what it should not. */
const script = `console.log('the key is', process.env.VOICECTL_API_KEY, '${token}', 'x=${padded}');
console.log('others are', '${otherKey}', encodeURIComponent('${otherKey}'), btoa(process.env.VOICECTL_API_KEY));
fetch(process.env.VOICECTL_BASE_URL + '/api/websocket-voice/token', { method: 'POST', body: new URLSearchParams({ apiKey: 'k' }) });
setInterval(() => {}, 1000)`;
const device = [process.execPath, '-e', script];

describe('the catalogue', () => {
  test('--list prints each situation below its rule', async () => {
    const { code, stdout } = await run('--list');
    expect(code).toBe(0);
    for (const { id, title } of situations) expect(stdout).toContain(`  ${id.padEnd(15)}${title}`);
  });

  test('--list --json is an object for each', async () => {
    const { stdout } = await run('--list', '--json', '--situation', 'D9');
    const listed = jsonLines(stdout);
    expect(listed.map(({ id }) => id)).toEqual(
      situations.map(({ id }) => id).filter((id) => id.startsWith('D9')),
    );
    expect(listed[0]).toMatchObject({ type: 'situation', rule: 'D9', needsTls: false });
  });

  test.each([
    [['--situation', 'D99'], /--situation: there is no situation D99/],
    [['--parallel', '2'], /--parallel needs a command/],
    [['--parallel', '2', '--port', '9', '--', 'true'], /--parallel cannot be combined with --port/],
    [['--host', '0.0.0.0'], /Refusing to listen on 0\.0\.0\.0/],
    [['--cert', 'x.pem', '--', 'true'], /--cert needs --tls-key/],
  ])('%j is refused', async (argv, says) => {
    const { code, stderr } = await run(...argv);
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });
});

test('--port 0 gives each of several devices a port of its own', async () => {
  const chosen = ['--situation', 'D1', '--situation', 'D2'];
  const { stdout } = await run(
    '--json',
    ...chosen,
    '--parallel',
    '2',
    '--port',
    '0',
    '--',
    'sh',
    '-c',
    'exit 3',
  );
  const drilled = jsonLines(stdout).filter(({ type }) => type === 'drill');
  expect(new Set(drilled.map(({ situation }) => situation))).toEqual(new Set(['D1', 'D2']));
});

describe('a device that sends a form', () => {
  test('fails D1 with the evidence, the words of the specification and how to repeat it', async () => {
    const junit = join(folder, 'drill.xml');
    const html = join(folder, 'drill.html');
    const files = ['--junit', junit, '--html', html];
    const { code, stdout } = await run('--situation', 'D1', ...files, '--', ...device);
    expect(code).toBe(1);
    const page = readFileSync(html, 'utf8');
    expect(page).toMatch(/1 rule broken: 0 pass, 1 fail\./);
    expect(page).toMatch(/situations<\/dt>\s*<dd>1<\/dd>/);
    expect(stdout).toMatch(/^D1 +fail +\d\.\d s {2}requests a token as specified\n/);
    expect(stdout).toContain('Content-Type is "application/x-www-form-urlencoded"');
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'POST, Content-Type: application/json; JSON object with apiKey',
    );
    expect(stdout).toMatch(/T1 at 0\.0 s: POST \/api\/websocket-voice\/token answered 415/);
    expect(stdout).toMatch(/again: voicectl drill --situation D1( --port 0)? -- /);
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain('<testcase name="D1: requests a token as specified" classname="voicectl.drill"');
    expect(xml).toContain('<failure type="fail"');
  });

  test('on a terminal without a screen shows a changing line, like a check', async () => {
    const { stderr } = await runInProcess(['drill', '--situation', 'D1', '--', ...device], {
      env,
      isTTY: true,
    });
    expect(stderr).toMatch(/^(\r\u001b\[K)*0\/1 {2}D1 requests a token as specified(\r\u001b\[K)+$/);
  });

  test('is reported to GitHub', async () => {
    const { stderr } = await runInProcess(['drill', '--situation', 'D1', '--', ...device], {
      env: { ...env, GITHUB_ACTIONS: 'true' },
    });
    expect(stderr).toMatch(
      /^::error title=voicectl drill .*D1 requests a token as specified::Content-Type is/m,
    );
  });
});

test('a situation is repeated with the flags that it needs, but without keys', async () => {
  const flags = ['--tls', '--device', 'lamp', '--accept-key', 'a-secret-key', '--device-timeout', '8s'];
  const { stdout } = await run(
    '--json',
    '--situation',
    'D14-untrusted',
    ...flags,
    '--',
    'sh',
    '-c',
    'exit 3',
  );
  const [drilled] = jsonLines(stdout);
  expect(drilled?.again).toMatch(
    /^voicectl drill --situation D14-untrusted --tls (--port 0 )?--device lamp --device-timeout 8000ms --accept-key KEY -- sh -c 'exit 3'$/,
  );
});

test('a situation is repeated with the same config file and profile, and the same hosts and origins', async () => {
  const config = join(folder, 'lab.yaml');
  writeFileSync(config, 'profiles: { lab: { device: lamp } }\n');
  const flags = [
    ...['--config', config, '--profile', 'lab', '--allow-host', 'box.lan', '--allow-host', 'lamp.lan'],
    ...['--allow-origin', 'http://box.lan'],
  ];
  const { stdout } = await run('--json', '--situation', 'D1', ...flags, '--', 'sh', '-c', 'exit 3');
  const [drilled] = jsonLines(stdout);
  const [, repeated = ''] =
    /^voicectl drill --situation D1 (.*) -- sh -c 'exit 3'$/.exec(String(drilled?.again)) ?? [];
  expect(repeated.split(' ').sort()).toEqual([...flags].sort());
});

test('a key or token among the arguments of the device is in no output and in no report', async () => {
  const files = [join(folder, 'arguments.xml'), join(folder, 'arguments.html')] as const;
  const argv = ['--situation', 'D1', '--accept-key', 'a-secret-key', '--junit', files[0], '--html', files[1]];
  const sh = ['sh', '-c', 'exit 3', '--key=a-secret-key', token];
  const { stdout, stderr } = await runInProcess(['drill', ...argv, '--', ...sh], {
    env: { ...env, GITHUB_ACTIONS: 'true' },
  });
  expect(stdout).toMatch(/again: .* -- sh -c 'exit 3' --key=KEY KEY$/m);
  const shown = [stdout, stderr, ...files.map((file) => readFileSync(file, 'utf8'))];
  for (const text of shown) {
    expect(text).toContain('--key=KEY');
    expect(text).not.toContain('a-secret-key');
    expect(text).not.toContain(token);
  }
});

test('a file of accepted keys that cannot be read is reported like any failure of a drill', async () => {
  const junit = join(folder, 'no-keys.xml');
  const flags = ['--accept-key-file', join(folder, 'none.txt'), '--junit', junit];
  const { code, stderr } = await run('--situation', 'D1', ...flags, '--', 'true');
  expect(code).toBe(2);
  expect(stderr).toContain('none.txt');
  expect(readFileSync(junit, 'utf8')).toContain('none.txt');
});

test('what a device prints is shown without key and token', async () => {
  const { stdout } = await run(
    '--json',
    '--situation',
    'D1',
    ...['--accept-key', 'a-secret-key', '--accept-key', otherKey],
    ...['--', ...device],
  );
  const [drilled, summary] = jsonLines(stdout);
  expect(drilled).toMatchObject({ type: 'drill', id: 'D1', rule: 'D1', verdict: 'fail' });
  expect(drilled?.output).toEqual([
    'the key is [redacted] [redacted] x=[redacted]',
    'others are [redacted] [redacted] [redacted]',
  ]);
  expect(stdout).not.toContain('a-secret-key');
  expect(summary).toMatchObject({ type: 'summary', exitCode: 1, stopped: null });
});

import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { hastyClock } from '../helpers/hasten.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { type MiniBehaviour, startMiniService } from '../helpers/mini-service.ts';
import { setUpServices } from '../helpers/services.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';

const key = 'canary-8a2e51d7';
const sandbox = setUpSandbox();
const services = setUpServices();

/** Runs `check` against a small service, with the key in the environment. It does not wait longer than necessary for silence. */
async function check({
  flags = [],
  env = {},
  change = {},
}: {
  flags?: string[];
  env?: Record<string, string>;
  change?: Partial<MiniBehaviour>;
} = {}) {
  await using service = await startMiniService(change);
  const wait = flags.includes('--dry-run') ? [] : ['--wait', '1s'];
  const ended = await runInProcess(['check', '--base-url', service.baseUrl, ...wait, ...flags], {
    env: { VOICECTL_API_KEY: key, VOICECTL_DEVICE: 'd1', ...env },
    clock: hastyClock,
  });
  const { arrived } = service;
  return {
    ...ended,
    arrived,
    devices: new Set(arrived.flatMap(({ body }) => /"deviceId":"([^"]+)"/.exec(body)?.[1] ?? [])),
    lines: ended.stdout.split('\n'),
  };
}

/** It breaks R12, and R13 is a warning. */
const wrong: Partial<MiniBehaviour> = {
  claims: (claims) => ({ ...claims, exp: Number(claims.exp) + 1, aud: ['voice-api'] }),
};
const line = (lines: readonly string[], id: string) => lines.findIndex((text) => text.startsWith(`${id} `));

interface RuleLine {
  type: string;
  id: string;
  verdict: string;
  evidence: object[];
}

describe('what it prints', () => {
  test('with --quiet is only what did not pass: nothing for a good service, and the code says the rest', async () => {
    const bad = await check({
      change: wrong,
      flags: ['--quiet', '--rule', 'R10', '--rule', 'R12', '--rule', 'R13'],
    });
    expect(bad.code).toBe(1);
    expect(bad.stdout.match(/^R\d+ +\w+/gm)).toEqual(['R12  fail', 'R13  warn']);
    expect(bad.stdout).not.toContain('1 fail');
    const good = await check({ flags: ['--quiet', '--rule', 'R10'] });
    expect([good.code, good.stdout, good.stderr]).toEqual([0, '', '']);
    const json = await check({ flags: ['--quiet', '--json', '--rule', 'R10'] });
    expect(json.lines).toHaveLength(3);
  });

  test('is a line for each rule, with what was seen below those that did not pass; none is longer than 80', async () => {
    const { code, lines, stderr } = await check({ change: wrong });
    expect([code, stderr]).toEqual([1, '']);
    expect(lines[line(lines, 'R10')]).toMatch(/^R10 {2}pass {5}sub is the device ID {23}E1 E2 E3 E10 E11$/);
    const at = line(lines, 'R12');
    expect(lines[at]).toMatch(/^R12 {2}fail {5}exp is 60 s after iat {22}E1/);
    expect(lines.slice(at + 1, at + 3)).toEqual([
      '     exp is 61 s after iat',
      expect.stringMatching(/^ {5}E1: POST \/api\/websocket-voice\/token answered 200 in \d+ ms$/),
    ]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(lines.at(-4)).toMatch(/^\d+ pass, 1 fail, 1 warn/);
  });

  test('folds a series of four or more exchanges; --verbose names every exchange', async () => {
    const flags = ['--rule', 'R10', '--rule', 'R30'];
    const { lines } = await check({ flags });
    expect(lines[line(lines, 'R10')]).toMatch(/^R10 {2}pass {5}sub is the device ID {23}E1 E3 X-1…X-60$/);
    const { lines: all } = await check({ flags: [...flags, '--verbose'] });
    const at = line(all, 'R10');
    expect(all[at]).toBe('R10  pass     sub is the device ID');
    const names = all
      .slice(at + 1, line(all, 'R30'))
      .join(' ')
      .trim()
      .split(/ +/);
    expect(names).toEqual(['E1', 'E3', ...Array.from({ length: 60 }, (_, index) => `X-${index + 1}`)]);
    expect(Math.max(...all.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('names three exchanges one by one if they fit', async () => {
    const { lines } = await check({ flags: ['--rule', 'R14'] });
    expect(lines[line(lines, 'R14')]).toMatch(/ E1 E2 E3$/);
  });

  test('ends with the flag that prints the exchanges of the first failed rule', async () => {
    const flags = ['--rule', 'R12'];
    const { lines } = await check({ change: wrong, flags });
    expect(lines.at(-2)).toBe('To repeat the exchanges of a failed rule and print them in full: --again R12');
    const { stdout } = await check({ flags });
    expect(stdout).not.toContain('--again');
    const expected = sandbox.write('expected.txt', 'R12 a known fault');
    const known = await check({ change: wrong, flags: [...flags, '--expected', expected] });
    expect(known.stdout).toContain('expected: a known fault');
    expect(known.stdout).not.toContain('--again');
  });

  test('with --json is an object for each rule, and a summary at the end', async () => {
    const { code, stdout } = await check({ flags: ['--json'], change: wrong });
    const objects = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as RuleLine);
    const rules = objects.slice(0, -1);
    expect(rules).toHaveLength(45);
    for (const rule of rules) {
      expect(rule).toMatchObject({
        ...{ type: 'rule', id: expect.stringMatching(/^R\d+$/), title: expect.any(String) },
        ...{ section: expect.any(String), verdict: expect.any(String), message: expect.any(String) },
        evidence: expect.any(Array),
      });
    }
    const found = rules.find(({ id }) => id === 'R12');
    expect(found).toMatchObject({
      verdict: 'fail',
      evidence: [{ id: 'E1', answer: { status: 200 } }, {}, {}, {}, {}, {}],
    });
    expect(objects.at(-1)).toMatchObject({
      ...{ type: 'summary', verdicts: { fail: 1, warn: 1 }, exitCode: code },
      ...{ requests: expect.any(Number), connections: expect.any(Number) },
    });
  });

  test.each(['quick', 'standard', 'full'])(
    'of --level %s costs what docs/CONFORMANCE.md says',
    async (level) => {
      const args = ['check', '--base-url', 'https://voice.example', '--level', level, '--dry-run', '--json'];
      const { stdout } = await runInProcess(args, { env: { VOICECTL_API_KEY: key } });
      const { cost, durationMs } = JSON.parse(stdout);
      const rows = readFileSync('docs/CONFORMANCE.md', 'utf8').split('\n');
      const [, , tokens, connections, time] = rows
        .find((row) => row.startsWith(`| \`--level ${level}\``))!
        .split(' | ');
      expect([parseInt(tokens!, 10), parseInt(connections!, 10)]).toEqual([cost.tokens, cost.connections]);
      if (level === 'quick') expect(tokens).toContain(`${cost.plain} requests without a key`);
      expect(Math.abs(parseInt(time!, 10) - durationMs / 1_000)).toBeLessThan(5);
    },
  );

  test('with --dry-run is the plan; nothing arrives', async () => {
    const { code, stdout, arrived } = await check({
      flags: ['--dry-run', '--level', 'standard', '--exhaust'],
    });
    expect([code, arrived]).toEqual([0, []]);
    expect(stdout).toMatch(/94 token requests, 3 without a key, \d+ connections, about 1\d\d s\n/);
    const { port, ...dead } = await services.tcp(() => {});
    const flags = ['check', '--base-url', `http://127.0.0.1:${port}`, '--dry-run', '--json'];
    const planned = await runInProcess(flags, { env: { VOICECTL_API_KEY: key } });
    expect(JSON.parse(planned.stdout)).toMatchObject({ type: 'plan', requests: 23 });
    expect(dead.sockets).toEqual([]);
  });
});

describe('what it asks', () => {
  test('with --no-wrong-key includes no wrong key, not even a dummy one', async () => {
    const { code, arrived } = await check({ flags: ['--no-wrong-key', '--thorough', '--level', 'standard'] });
    expect(code).toBe(0);
    const keys = arrived.flatMap(({ body }) => /"apiKey":"([^"]*)"/.exec(body)?.[1] ?? []);
    expect([...new Set(keys)].sort()).toEqual(['', key]);
  });

  test('with --thorough includes large bodies, headers and messages', async () => {
    const { stdout, arrived } = await check({ flags: ['--thorough'] });
    expect(Math.max(...arrived.map(({ body }) => body.length))).toBeGreaterThan(1024 * 1024);
    expect(stdout).toContain('14 token requests, 4 without a key, 12 connections');
  });

  test('comes from one device with --one-device', async () => {
    const { devices } = await check({ flags: ['--one-device', '--level', 'standard', '--exhaust'] });
    expect([...devices]).toEqual(['d1']);
  });

  test('comes from the named devices, and from others with names derived from the first', async () => {
    const flags = ['a', 'b', 'c', 'd'].flatMap((id) => ['--device', id]);
    const named = await check({ flags: [...flags, '--level', 'standard', '--exhaust'] });
    expect([...named.devices].sort()).toEqual(['a', 'b', 'c', 'd']);
    const made = await check({ flags: ['--device', 'a', '--level', 'standard', '--exhaust'] });
    expect([...made.devices].sort()).toEqual(['a', 'a-2', 'a-3', expect.stringMatching(/^a-4-[0-9a-f]{6}$/)]);
  });

  test('is only what --rule needs', async () => {
    const { code, lines, arrived } = await check({ flags: ['--rule', 'r12', '--rule', 'R15'] });
    expect(code).toBe(0);
    expect(lines.filter((text) => /^R\d/.test(text)).map((text) => text.split(' ')[0])).toEqual([
      'R12',
      'R15',
    ]);
    expect(arrived.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  test('is at most --max-requests', async () => {
    const { code, arrived, stdout } = await check({ flags: ['--max-requests', '4'] });
    expect([code, arrived.length]).toEqual([0, 4]);
    expect(stdout).toContain('the request budget is used up');
  });

  test('waits for --wait on a connection that sends nothing', async () => {
    const silent = { refusal: () => undefined };
    const { stdout } = await check({ flags: ['--wait', '3s', '--dry-run'], change: silent });
    expect(stdout).toContain('the same, after 3 s (3 s after S6)');
  });
});

describe('what counts as a failure', () => {
  test('excludes what --expected names; a rule that passes although it is expected to fail is reported', async () => {
    sandbox.write('known.txt', '# known\nR12 61 s until spring\n\nR1 the gateway answers 201\n');
    const flags = ['--rule', 'R1', '--rule', 'R12', '--expected', sandbox.path('known.txt')];
    const files = ['--junit', sandbox.path('known.xml'), '--html', sandbox.path('known.html')];
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.write('summary.md', '') };
    const { code, lines } = await check({ flags: [...flags, ...files], env, change: wrong });
    expect(code).toBe(0);
    expect(sandbox.read('summary.md')).toMatch(/\| R12 \| fail \|.*\(expected: 61 s until spring\)/);
    expect(sandbox.read('known.html')).toContain('Only what is expected to fail is broken');
    expect(lines).toContain('     expected: 61 s until spring');
    for (const file of ['known.xml', 'known.html'])
      expect(readFileSync(sandbox.path(file), 'utf8')).toContain(
        'expected to fail, but passed: the gateway answers 201',
      );
    expect(lines[line(lines, 'R1') + 1]).toBe('     expected to fail, but passed: the gateway answers 201');
  });

  test.each([
    ['R99 there is none', /known.txt, line 1: there is no rule R99/],
    ['R12', /known.txt, line 1: R12 has no reason/],
  ])('a file of known failures with %j is refused before any request', async (text, message) => {
    sandbox.write('known.txt', text);
    const { code, stderr, arrived } = await check({ flags: ['--expected', sandbox.path('known.txt')] });
    expect([code, arrived]).toEqual([2, []]);
    expect(stderr).toMatch(message);
  });

  test('includes warnings and unknown verdicts with --strict', async () => {
    const list: Partial<MiniBehaviour> = { claims: (claims) => ({ ...claims, aud: ['voice-api'] }) };
    const flags = ['--rule', 'R13'];
    expect((await check({ change: list, flags })).code).toBe(0);
    const html = ['--html', sandbox.path('strict.html')];
    const { code, stdout } = await check({ change: list, flags: [...flags, ...html, '--strict'] });
    expect(code).toBe(1);
    const why = 'With --strict, warn and unknown are failures';
    expect(stdout).toContain(`${why}.\n`);
    expect(sandbox.read('strict.html')).toContain(`${why}: 0 pass, 0 fail, 1 warn.`);
  });
});

describe('--jwks', () => {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { publicKey, privateKey } = pair();
  const setOf = (one: typeof publicKey) => JSON.stringify({ keys: [one.export({ format: 'jwk' })] });

  async function checkSigned(jwks: string) {
    await using emulator = await createEmulator({
      clock: hastyClock,
      dialect: {
        token: {
          algorithm: 'ES256',
          privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        },
      },
    });
    return await runInProcess(['check', '--base-url', emulator.baseUrl, '--rule', 'R9', '--jwks', jwks], {
      env: { VOICECTL_API_KEY: key },
      clock: hastyClock,
    });
  }

  test('a published key in a file verifies the tokens', async () => {
    sandbox.write('keys.json', setOf(publicKey));
    expect(await checkSigned(sandbox.path('keys.json'))).toMatchObject({ code: 0, stderr: '' });
  });

  test("somebody else's keys, from an address, fail R9", async () => {
    const { baseUrl } = await services.http((response) => response.end(setOf(pair().publicKey)));
    const { code, stdout } = await checkSigned(`${baseUrl}/keys`);
    expect(code).toBe(1);
    expect(stdout).toContain('no published key verifies the token');
  });

  test('a plain HTTP address is refused unless it is on this machine', async () => {
    const { code, stderr } = await checkSigned('http://keys.example/keys');
    expect(code).toBe(2);
    expect(stderr).toContain('Refusing to read the keys of keys.example over plain HTTP');
  });

  test.each([
    ['no JSON', 'canary-secret\u001b[31m'],
    ['no keys', '{"d":"canary-secret"}'],
    ['other keys', '{"keys":["canary-secret"]}'],
  ])('a file with %s is refused, and nothing of it is shown', async (_what, text) => {
    sandbox.write('bad.json', text);
    const { code, stdout, stderr } = await checkSigned(sandbox.path('bad.json'));
    expect(code).toBe(2);
    expect(stderr).toMatch(/No key set in .*bad\.json: it/);
    expect(stdout + stderr).not.toMatch(/canary|\u001b/);
  });

  test('an address without keys is refused before any request', async () => {
    const { baseUrl } = await services.http((response) => response.writeHead(404).end());
    const { code, stderr } = await checkSigned(`${baseUrl}/keys`);
    expect(code).toBe(2);
    expect(stderr).toContain('it answered 404');
  });

  test.each([
    ['http://', 'expected a file, or a URL'],
    ['https://exa mple/keys', 'expected a file, or a URL'],
    ['https://u:canary-secret@keys.example/', 'without a user name or password'],
  ])('%s is not an address, and is refused', async (jwks, why) => {
    const { code, stderr } = await checkSigned(jwks);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
    expect(stderr).toMatch(/^voicectl: --jwks: /);
    expect(stderr).not.toContain('canary');
  });

  test.each([
    ['404', 404, ''],
    ['a text that is no key set', 200, 'canary-body'],
  ])('what grants access to an address that answers with %s is not shown', async (_what, status, body) => {
    const { baseUrl } = await services.http((response) => response.writeHead(status).end(body));
    const { code, stdout, stderr } = await checkSigned(`${baseUrl}/keys?token=canary-secret&v=1#canary-end`);
    expect(code).toBe(2);
    expect(stderr).toContain(`${baseUrl}/keys?token=`);
    expect(stdout + stderr).not.toContain('canary');
  });
});

describe('reports', () => {
  test('JUnit has a case for each rule, the page has each rule with its evidence, and GitHub gets the failures', async () => {
    sandbox.write('summary.md', '');
    const reports = ['--junit', sandbox.path('check.xml'), '--html', sandbox.path('check.html')];
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.path('summary.md') };
    const { stderr } = await check({ flags: reports, env, change: wrong });
    const junit = sandbox.read('check.xml');
    expect(junit).toMatch(/tests="45" failures="1"/);
    expect(junit).toContain('<failure type="fail" message="exp is 61 s after iat"');
    const page = sandbox.read('check.html');
    expect(page.match(/<article class="item \w+" id="R\d+">/g)).toHaveLength(45);
    expect(page).toContain('<p class="word">No</p>');
    expect(page).toMatch(/<article class="item bad" id="R12">[\s\S]*?<p>exp is 61 s after iat<\/p>/);
    expect(stderr).toMatch(
      /^::error title=voicectl check http.*%3A R12 exp is 60 s after iat::exp is 61 s after iat$/m,
    );
    expect(sandbox.read('summary.md')).toContain('| R12 | **fail** |');
  });

  test('no key or token is in any output, even if the service repeats them', async () => {
    const leaky: Partial<MiniBehaviour> = {
      ...wrong,
      headers: ({ fields }) => ({ 'Content-Type': 'application/json', 'X-Echo': String(fields.apiKey) }),
      body: (token) => ({ token, again: token }),
      problem: (problem, { fields }) =>
        problem && { ...problem, message: `${problem.message} of ${String(fields.apiKey)}` },
      connected: ({ say }) => say({ type: 'service_voice_connected', key }),
    };
    sandbox.write('summary.md', '');
    const reports = ['--junit', sandbox.path('check.xml'), '--html', sandbox.path('check.html')];
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: sandbox.path('summary.md') };
    const told = [
      await check({ flags: [...reports, '--json'], env, change: leaky }),
      await check({ change: leaky }),
    ].map(({ stdout, stderr }) => stdout + stderr);
    const files = ['check.xml', 'check.html', 'summary.md'].map((name) => sandbox.read(name));
    for (const text of [...told, ...files]) {
      expect(text).not.toContain(key);
      expect(text).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    }
  });
});

test('speaks the included sound, even if a file in the folder has the same name', async () => {
  sandbox.write('hello.wav', 'mine');
  const { code, stdout } = await sandbox.runHere(['check', '--local', '--rule', 'R37']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^R37 +pass /)]);
});

test('a timeout names the exchange that it was waiting for', async () => {
  const { code, stderr } = await sandbox.runHere(['check', '--local', '--timeout', '2s', '-q']);
  expect(code).toBe(7);
  expect(stderr).toMatch(/Timed out after 2 s, waiting for [A-Z]\w*: \w/);
});

test('a service that counts connections by address is checked to the end, and learned', async () => {
  const dialect = sandbox.write('d.yaml', 'stream: { connectionLimit: refuse-upgrade }\n');
  const rules = ['R42', 'R43', 'R44'].flatMap((id) => ['--rule', id]);
  const checked = await sandbox.runHere(['check', '--local', '--dialect', dialect, ...rules]);
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/R42 +pass.*R43 +pass.*R44 +unknown.*before a token names the device/s),
  });
  const learned = await sandbox.runHere(['learn', '--local', '--dialect', dialect, '--level', 'standard']);
  expect(learned).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('connectionLimit: refuse-upgrade'),
  });
});

test.each([
  [['check'], 'an answer from'],
  [['learn'], 'an answer from'],
  [['doctor'], 'an answer from'],
  [['emulator', 'state'], 'an answer from'],
  [['load', '--sessions', '1', '--processes', 'none'], 'the sessions to end'],
])('a timeout of %j names what it was waiting for', async (command, what) => {
  const clock = createManualClock(Date.now());
  // The time limit passes once the command has asked, however long that takes.
  const { port } = await services.tcp(() => clock.advance(1_000));
  const target = ['--base-url', `http://127.0.0.1:${port}`, '--timeout', '1s', '-q'];
  const running = sandbox.runHere([...command, ...target], { clock });
  const { code, stderr } = await running;
  expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining(`waiting for ${what}`) });
});

describe('--again', () => {
  const again = (id: string, flags: string[] = [], change: Partial<MiniBehaviour> = {}) =>
    check({ flags: ['--again', id, ...flags], change });

  test('makes one exchange and those that it needs, and prints them in full, without key or token', async () => {
    const { code, stdout, stderr, arrived } = await again('s3');
    expect([code, stderr]).toEqual([0, '']);
    expect(arrived.map(({ method }) => method)).toEqual(['POST', 'UPGRADE']);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe('E2  valid request, v1 path, without Accept');
    for (const text of [
      '    > POST http://127.0.0.1:PORT/api/v1/websocket-voice/token',
      '    > Content-Type: application/json',
      '    > {"apiKey":"[redacted]","deviceId":"d1"}',
      '    < Cache-Control: no-cache, no-store, must-revalidate',
      'S3  a token from the v1 path, then 641 bytes, then text',
      '    > GET ws://127.0.0.1:PORT/voice-stream',
    ])
      expect(stdout.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT').split('\n')).toContain(text);
    expect(stdout).toMatch(/^ {4,6}\d\.\d{3} s +> the token, \d+ bytes of text$/m);
    expect(stdout).toMatch(/^ {4,6}\d\.\d{3} s +< .*service_voice_connected/m);
    expect(stdout).toMatch(/^ {4,6}\d\.\d{3} s +> 641 bytes of audio$/m);
    expect(stdout).toMatch(/^ {4,6}\d\.\d{3} s +> voicectl check$/m);
    expect(stdout).toMatch(/^ {4,6}\d\.\d{3} s +> close 1000/m);
    expect(stdout).not.toContain(key);
    expect(stdout).not.toMatch(/eyJ[\w-]+\.[\w-]+\./);
  });

  test('with a rule makes the exchanges that the rule needs, and prints its verdict', async () => {
    const { code, stdout, arrived } = await again('r12', [], wrong);
    expect(code).toBe(1);
    expect(arrived).toHaveLength(1);
    expect(stdout).toContain('    token claims {');
    expect(stdout).toMatch(/^R12 {2}fail {5}exp is 60 s after iat/m);
  });

  test('prints the part of a series that shows the rule, and the rest as one line', async () => {
    const { stdout } = await again('X-61');
    expect(stdout).toContain('X-1…X-60: 60 exchanges, not shown without --verbose');
    expect(stdout.match(/^X-/gm)).toHaveLength(2);
  });

  test('accepts the name of a second try, and of one exchange of a series', async () => {
    expect((await again('E6/2')).arrived).toHaveLength(1);
    expect((await again('C11', ['--dry-run'])).stdout).toMatch(/^C {8}10 streams/m);
  });

  test('with --json prints an object for each exchange, the verdict and a summary', async () => {
    const { stdout } = await again('R17', ['--json']);
    const objects = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as RuleLine);
    expect(objects).toMatchObject([
      { type: 'exchange', id: 'E6', step: 'E6', title: 'JSON that is cut off', answer: { status: 400 } },
      { type: 'rule', id: 'R17', verdict: 'pass' },
      { type: 'summary', requests: 1, connections: 0, exitCode: 0 },
    ]);
  });

  test.each([
    ['E99', /there is no rule or exchange E99, did you mean E9\?/],
    ['R177', /there is no rule or exchange R177, did you mean R17\?/],
    ['S33', /there is no rule or exchange S33, did you mean S3\?/],
    ['hello', /there is no rule or exchange hello\n/],
  ])('refuses %s and names the nearest match', async (id, message) => {
    const { code, stderr, arrived } = await again(id);
    expect([code, arrived]).toEqual([2, []]);
    expect(stderr).toMatch(message);
  });

  test.each([
    ['--again', 'X', '--exhaust'],
    ['--again', 'X-61', '--exhaust'],
    ['--again', 'R31', '--exhaust'],
    ['--rule', 'R30', '--exhaust'],
    ['--again', 'H3', '--thorough'],
  ])('%s %s asks another machine only with %s', async (flag, id, needed) => {
    const args = ['check', '--base-url', 'https://voice.example', '--api-key', key, '--dry-run', flag, id];
    const refused = await runInProcess(args);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(new RegExp(`${flag}: ${id} .*: add ${needed}`));
    const allowed = await runInProcess([...args, needed]);
    expect([allowed.code, allowed.stderr]).toEqual([0, '']);
  });

  test('says why an exchange cannot be made with these options', async () => {
    const { code, stderr } = await again('E10', ['--no-wrong-key']);
    expect(code).toBe(2);
    expect(stderr).toContain('E10 cannot be repeated with --no-wrong-key');
    expect((await again('E3', ['--one-device'])).stderr).toContain('E3 cannot be repeated with --one-device');
    expect((await again('K4')).stderr).toContain('K4 cannot be repeated without TLS');
  });

  test('reports what was not asked, and exits with 2 if --max-requests was too low', async () => {
    const { code, stdout, arrived } = await again('S1', ['--max-requests', '1', '--json']);
    expect([code, arrived.length]).toEqual([2, 1]);
    expect(
      stdout
        .trim()
        .split('\n')
        .slice(-2)
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      {
        ...{ type: 'summary', exitCode: 2 },
        leftOut: [{ step: 'S1', why: 'the request budget is used up' }],
      },
      { type: 'error', code: 'usage', message: 'S1 was not repeated: the request budget is used up' },
    ]);
    const plain = await again('R34', ['--max-requests', '1']);
    expect(plain.code).toBe(2);
    expect(plain.stdout).toContain('S1  not asked: the request budget is used up');
    expect(plain.stderr).toMatch(
      /^voicectl: R34 was not repeated: .*\n {2}It needs --max-requests \d+\.\n$/m,
    );
  });

  test('exits with 1 if an answer left nothing for the next exchange to use', async () => {
    const refuse: Partial<MiniBehaviour> = { token: () => undefined };
    const { code, stdout } = await again('S3', [], refuse);
    expect(stdout).toContain('S3  not asked: no token was granted');
    expect(code).toBe(1);
  });

  test('respects known failures and --strict, like a full check', async () => {
    const expected = sandbox.write('expected.txt', 'R12 a known fault');
    const known = await again('R12', ['--expected', expected], wrong);
    expect(known.code).toBe(0);
    expect(known.stdout).toContain('expected: a known fault');
    expect((await again('R13', [], wrong)).code).toBe(0);
    expect((await again('R13', ['--strict'], wrong)).code).toBe(1);
    sandbox.write('voicectl.config.yaml', 'strict: true\n');
    await using service = await startMiniService(wrong);
    const args = ['check', '--base-url', service.baseUrl, '--api-key', key];
    const codes = [
      ['--rule', 'R13'],
      ['--again', 'R13'],
    ].map(async (flags) => (await sandbox.runHere([...args, ...flags])).code);
    expect(await Promise.all(codes)).toEqual([1, 1]);
  });

  test.each([
    [['--again', 'E1'], 'E1  valid request, unversioned path, with Accept'],
    [[], '\nStopped: '],
    [['--json'], '"stopped":{"code":'],
  ])('reports on standard error what stopped it, with the exit code of a check: %j', async (flags, shown) => {
    const { port } = await services.tcp((socket) => socket.destroy());
    const junit = sandbox.path('check.xml');
    const target = ['--base-url', `http://127.0.0.1:${port}`];
    const reports = flags.includes('--again') ? [] : ['--junit', junit];
    const ended = await runInProcess(['check', ...target, ...reports, ...flags], {
      env: { VOICECTL_API_KEY: key },
      clock: hastyClock,
    });
    expect(ended.code).toBe(4);
    expect(ended.stdout).toContain(shown);
    expect(ended.stderr).toMatch(new RegExp(`^voicectl: .*127\\.0\\.0\\.1:${port}`, 'm'));
    if (reports.length === 0) return;
    // The kind of the failure, as in every report.
    expect(sandbox.read('check.xml')).toContain('<error type="unreachable"');
    expect(sandbox.read('check.xml')).toContain('<property name="failureKind" value="unreachable"/>');
  });
});

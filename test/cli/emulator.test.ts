import { expect, test } from 'vitest';
import { faultNames } from '../../src/protocol/faults.ts';
import { readFault } from '../../src/protocol/read-fault.ts';
import { lanAddresses } from '../../src/wire/addresses.ts';
import { rawHttp } from '../helpers/raw-http.ts';
import { setUpServices } from '../helpers/services.ts';
import { startTokenStub } from '../helpers/token-stub.ts';
import { fixture, jsonLines, setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const services = setUpServices();

/** An emulator with one device that streams to it until it is stopped. */
async function startConversation() {
  const serve = await sandbox.serveHere(['--reply', 'silence']);
  const at = ['--base-url', serve.baseUrl];
  const device = await sandbox.startHere([
    'stream',
    ...at,
    '--device',
    'd1',
    '--file',
    fixture('silence.wav'),
    '--loop',
    '--json',
  ]);
  await device.line(/service_voice_connected/);
  const control = (...args: string[]) => sandbox.runHere(['emulator', ...args, ...at]);
  return { serve, at, device, control };
}

test('emulator clock advance 61s makes an earlier token expire, and resets the window', async () => {
  const serve = await sandbox.serveHere(['--rate-limit', '1']);
  const at = ['--base-url', serve.baseUrl];
  const token = await sandbox.runHere(['token', ...at, '--device', 'd1', '--retries', '0']);
  expect((await sandbox.runHere(['token', ...at, '--device', 'd1', '--retries', '0'])).code).toBe(5);
  const advanced = await sandbox.runHere(['emulator', 'clock', 'advance', '61s', ...at]);
  expect(advanced).toMatchObject({ code: 0, stdout: expect.stringContaining('61 s ahead of this machine') });
  expect((await sandbox.runHere(['token', ...at, '--device', 'd1', '--retries', '0'])).code).toBe(0);
  const file = sandbox.write('token', token.stdout);
  const stream = await sandbox.runHere([
    'stream',
    ...at,
    '--token-from',
    file,
    '--file',
    fixture('hello.wav'),
  ]);
  expect(stream).toMatchObject({ code: 3, stderr: expect.stringContaining('TOKEN_EXPIRED') });
});

test('emulator state shows the device, its stream and its token', async () => {
  const { control } = await startConversation();
  const plain = await control('state');
  expect(plain.stdout).toMatch(/d1 +1\/10 connections +1\/60 requests/);
  expect(plain.stdout).toMatch(/tokens\n {2}[\w-]+ +d1 +expires .* used/);
  const [state] = jsonLines((await control('state', '--json')).stdout);
  expect(state).toMatchObject({ streams: [{ stream: 1, device: 'd1' }] });
});

test('emulator send and close reach the stream, and say which', async () => {
  const { control, device } = await startConversation();
  const sent = await control('send', '{"type":"lights","on":true}');
  expect(sent).toMatchObject({ code: 0, stdout: 'Reached stream 1\n' });
  await device.line(/"kind":"lights"/);
  expect((await control('send', '--error-code', 'QUOTA', '--on-device', 'd1')).code).toBe(0);
  await device.line(/"code":"QUOTA"/);
  for (const missed of [
    ['send', '--status', 'speaking', '--on-device', 'nobody'],
    ['close', '--on-stream', '7'],
  ])
    expect(await control(...missed)).toMatchObject({ code: 1, stdout: 'No stream was reached\n' });
  expect((await control('close', '--code', '4123', '--reason', 'enough')).stdout).toBe('Reached stream 1\n');
  const ended = await device.ended;
  expect(ended.code).toBe(6);
  expect(jsonLines(ended.stdout).find(({ type }) => type === 'close')).toMatchObject({
    code: 4123,
    reason: 'enough',
  });
});

test('emulator speak plays a WAV of any format to the stream', async () => {
  const { control, device } = await startConversation();
  expect((await control('speak', fixture('tone-48k-stereo.wav'))).code).toBe(0);
  await device.line(/"type":"audio","direction":"in"/);
});

test('emulator speak plays an included sound by its name', async () => {
  const { control, device } = await startConversation();
  expect((await control('speak', 'hello.wav')).code).toBe(0);
  await device.line(/"type":"audio","direction":"in"/);
});

test('emulator journal --follow with a time limit says that it waited for events', async () => {
  const { baseUrl } = await sandbox.serveHere([]);
  const args = ['emulator', 'journal', '--follow', '--timeout', '1s', '--base-url', baseUrl];
  const { code, stderr } = await sandbox.runHere(args);
  expect(code).toBe(7);
  expect(stderr).toMatch(/waiting for events of http:/);
});

test('emulator journal --follow shows events as they happen, until it is interrupted', async () => {
  const { serve, at } = await startConversation();
  const follow = await sandbox.startHere([
    'emulator',
    'journal',
    '--follow',
    '--type',
    'token-issued',
    '--json',
    ...at,
  ]);
  // Following begins some time after the start: events are emitted until the first is seen.
  const ask = async () => {
    await sandbox.runHere(['token', ...at, '--device', 'd2', '--retries', '0']);
    return follow.stdout;
  };
  await expect.poll(ask, { timeout: 20_000, interval: 300 }).toContain('token-issued');
  expect(JSON.parse(await follow.line(/token-issued/))).toMatchObject({ type: 'token-issued', device: 'd2' });
  follow.signal('SIGINT');
  expect((await follow.ended).code).toBe(130);
  const journal = await sandbox.runHere(['emulator', 'journal', '--type', 'stream-authorised', ...at]);
  expect(journal.stdout).toMatch(/stream 1 d1 {2}authorised/);
  expect(serve.stdout).toContain('token-issued');
});

test('emulator reset closes the streams and forgets the windows', async () => {
  const { control, device } = await startConversation();
  expect(await control('reset')).toMatchObject({ code: 0, stdout: 'The emulator was reset\n' });
  const { stdout } = await device.ended;
  expect(jsonLines(stdout).find(({ type }) => type === 'close')).toMatchObject({ code: 1012 });
  expect((await control('state')).stdout).toContain('no devices');
});

test.each([
  [['clock', 'advance'], 'a duration'],
  [['clock', 'back', '1s'], 'expected advance, not back'],
  [['send'], 'Nothing to send'],
  [['send', '{oops'], 'not valid JSON'],
  [['send', '1', '--status', 'speaking'], 'More than one message'],
  [['speak', 'missing.wav'], 'Cannot read missing.wav'],
  [['close', '--code', '1005'], 'The emulator refused: code'],
])('emulator %j is refused with a reason and exit 2', async (args, reason) => {
  const { baseUrl } = await sandbox.serveHere();
  const { code, stderr } = await sandbox.runHere(['emulator', ...args, '--base-url', baseUrl]);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});

test('an emulator that is not there is exit 4, and something that is not an emulator is exit 6', async () => {
  const { baseUrl } = await sandbox.serveHere();
  const gone = await sandbox.runHere(['emulator', 'state', '--base-url', 'http://127.0.0.1:9']);
  expect(gone.code).toBe(4);
  const other = await sandbox.runHere(['emulator', 'state', '--base-url', `${baseUrl}/elsewhere`]);
  expect(other).toMatchObject({ code: 6, stderr: expect.stringContaining('is not a voicectl emulator') });
});

test('beyond loopback the emulator is controlled with the secret that serve shows', async () => {
  const serve = await sandbox.serveHere(['--host', '0.0.0.0', '--accept-key', 'k']);
  const secret = /VOICECTL_CONTROL_SECRET=(\S+)/.exec(await serve.line(/VOICECTL_CONTROL_SECRET/))?.[1] ?? '';
  const args = ['emulator', 'state', '--base-url', serve.baseUrl];
  const refused = await sandbox.runHere(args);
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('VOICECTL_CONTROL_SECRET') });
  expect((await sandbox.runHere(args, { env: { VOICECTL_CONTROL_SECRET: secret } })).code).toBe(0);
  const file = sandbox.write('secret', `${secret}\n`);
  expect((await sandbox.runHere([...args, '--control-secret-file', file])).code).toBe(0);
});

const [lan] = lanAddresses('IPv4');
test.skipIf(lan === undefined)(
  'an emulator on an address of the network is controlled by that address',
  async () => {
    const flags = ['--host', lan ?? '', '--accept-key', 'k'];
    const serve = await sandbox.serveHere(flags, { env: { VOICECTL_CONTROL_SECRET: 's3cret' } });
    const state = (env: Record<string, string>) =>
      sandbox.runHere(['emulator', 'state', '--base-url', serve.baseUrl], { env });
    expect(serve.baseUrl).toContain(lan);
    expect(await state({ VOICECTL_CONTROL_SECRET: 's3cret' })).toMatchObject({ code: 0 });
    expect(await state({})).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('VOICECTL_CONTROL_SECRET'),
    });
    // A page whose name resolves to this machine still has another host name.
    const request = 'GET /__voicectl/state HTTP/1.1\r\nHost: evil.example\r\n\r\n';
    const rebound = await rawHttp(Number(new URL(serve.baseUrl).port), request, { host: lan ?? '' });
    expect(rebound).toMatchObject({
      status: 403,
      body: expect.stringContaining('an address of this machine'),
    });
  },
);

test('the secret from the environment overrides the file in a config file, and a flag overrides both', async () => {
  const env = { VOICECTL_CONTROL_SECRET: 'the-right-secret' };
  const serve = await sandbox.serveHere(['--host', '0.0.0.0', '--accept-key', 'k'], { env });
  sandbox.write('wrong', 'the-wrong-secret');
  sandbox.write('voicectl.yaml', 'controlSecretFile: wrong\n');
  const args = ['emulator', 'state', '--base-url', serve.baseUrl];
  expect((await sandbox.runHere(args)).code).toBe(3);
  expect((await sandbox.runHere(args, { env })).code).toBe(0);
  expect((await sandbox.runHere([...args, '--control-secret-file', 'wrong'], { env })).code).toBe(3);
});

test('an empty secret file is refused', async () => {
  sandbox.write('empty', '\n');
  const { code, stderr } = await sandbox.runHere(['serve', '--port', '0', '--control-secret-file', 'empty']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'voicectl: There is no secret in empty\n' });
});

test('the secret is not sent to another machine: exit 2', async () => {
  const env = { VOICECTL_CONTROL_SECRET: 's3cret' };
  const { code, stderr } = await sandbox.runHere(
    ['emulator', 'state', '--base-url', 'https://voice.example'],
    {
      env,
    },
  );
  expect(code).toBe(2);
  expect(stderr).toContain('voice.example is not this machine');
  expect(stderr).not.toContain('s3cret');
});

test('emulator fault adds a fault that strikes as often as asked, shows it and clears it', async () => {
  const serve = await sandbox.serveHere(['--fault', 'token-slow:delay=0ms']);
  const at = ['--base-url', serve.baseUrl];
  const fault = (...args: string[]) => sandbox.runHere(['emulator', 'fault', ...args, ...at]);
  const added = await fault('add', 'token-error:status=503', '--once', '--on-device', 'd1');
  expect(added).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Added fault 2 {2}token-error .*device=d1/),
  });
  const token = () => sandbox.runHere(['token', ...at, '--device', 'd1', '--retries', '0']);
  expect(await token()).toMatchObject({ code: 3, stderr: expect.stringContaining('INTERNAL_ERROR') });
  expect((await token()).code).toBe(0);
  const [active] = jsonLines((await fault('active', '--json')).stdout);
  expect(active).toMatchObject([
    { id: 1, name: 'token-slow', struck: 2 },
    { id: 2, name: 'token-error', struck: 1 },
  ]);
  expect((await fault('clear', '2')).stdout).toBe('Cleared 1 fault\n');
  expect((await fault('clear')).stdout).toBe('Cleared 1 fault\n');
  expect(await fault('clear', '99')).toMatchObject({ code: 1, stdout: 'There is no active fault 99\n' });
  expect((await fault('active')).stdout).toBe('No fault is active\n');
});

test('emulator fault add limits how often a fault strikes, and how probably', async () => {
  const { baseUrl } = await sandbox.serveHere();
  const at = ['--base-url', baseUrl];
  const add = (...args: string[]) => sandbox.runHere(['emulator', 'fault', 'add', ...args, ...at, '--json']);
  const [rare] = jsonLines((await add('token-slow:delay=0ms', '--probability', '0.25')).stdout);
  expect(rare).toMatchObject({ id: 1, probability: 0.25 });
  await add('token-error:status=503', '--times', '2');
  const codes: (number | null)[] = [];
  for (let time = 0; time < 3; time += 1)
    codes.push((await sandbox.runHere(['token', ...at, '--retries', '0'])).code);
  expect(codes).toEqual([3, 3, 0]);
});

test('emulator fault list needs no emulator, and lists each fault with its parameters', async () => {
  const listed = await sandbox.runHere(['emulator', 'fault', 'list', '--all']);
  expect(listed.code).toBe(0);
  for (const name of faultNames) expect(listed.stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  const [catalogue] = jsonLines((await sandbox.runHere(['emulator', 'fault', 'list', '--json'])).stdout);
  expect(catalogue).toHaveLength(faultNames.length);
});

test('emulator fault list begins with ten faults as they are written, and says where the others are', async () => {
  const { stdout } = await sandbox.runHere(['emulator', 'fault', 'list']);
  const examples = [...stdout.matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, example = '']) => example);
  expect(examples).toHaveLength(10);
  for (const example of examples) expect(() => readFault(example)).not.toThrow();
  expect(stdout).toContain(
    `${faultNames.length - 10} more faults, and the parameters of every fault: voicectl emulator fault list --all`,
  );
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThan(140);
});

test.each([
  [['emulator', 'fault', 'clear', '--all'], /fault clear takes no --all/],
  [['serve', '--fault', 'nope'], /"nope"/],
  [['emulator', 'fault', 'add', 'close:code=1005'], /expected a close code/],
  [['emulator', 'fault', 'add'], /add needs a fault, such as/],
  [['emulator', 'fault', 'clear', 'all'], /expected the number of a fault/],
  [['emulator', 'fault', 'forget'], /expected list, add, active or clear/],
  [['emulator', 'fault', 'toString'], /expected list, add, active or clear/],
  [['emulator', 'fault', '__proto__'], /expected list, add, active or clear/],
  [['emulator', 'fault', 'clear', '--on-device', 'd1'], /fault clear takes no --on-device/],
  [['emulator', 'fault', 'clear', '1', '--on-stream', '1'], /fault clear takes no --on-stream/],
  [['emulator', 'fault', 'active', '--once'], /fault active takes no --once/],
  [['emulator', 'fault', 'active', '3'], /fault active takes no argument/],
  [['emulator', 'fault', 'list', '--times', '2'], /fault list takes no --times/],
])('%j is a usage error', async (args, why) => {
  expect(await sandbox.runHere(args)).toMatchObject({ code: 2, stderr: expect.stringMatching(why) });
});

test.each([
  [['emulator', 'journal', '--follow', '--limit', '5'], '--limit cannot be combined with --follow'],
  [['emulator', 'send', '--status', 'speaking', '--message', 'hi'], '--message needs --error-code'],
  [['stream', '--expect-file', 'a.yaml', '--tail', '1s'], '--tail cannot be combined with --expect-file'],
])('%j is refused, because a flag would have no effect', async (args, why) => {
  expect(await sandbox.runHere(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
});

test.each([
  ['state', ['state'], '{}'],
  ['the streams reached', ['close'], '{}'],
  ['clock', ['clock'], '[]'],
  ['journal', ['journal'], '[{"seq": 1}]'],
])('an answer without %s is reported as such, and is not a bug', async (_what, args, answer) => {
  const { baseUrl } = await startTokenStub(sandbox, (response) => void response.end(answer));
  const ended = await sandbox.runHere(['emulator', ...args, '--base-url', baseUrl]);
  expect(ended).toMatchObject({ code: 6, stderr: expect.stringContaining('is not a voicectl emulator') });
});

test('an answer with unknown fields is shown', async () => {
  const answer = '{"now": "2026-01-01T00:00:00.000Z", "aheadMs": 0, "zone": "UTC"}';
  const { baseUrl } = await startTokenStub(sandbox, (response) => void response.end(answer));
  const ended = await sandbox.runHere(['emulator', 'clock', '--base-url', baseUrl]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('2026-01-01') });
});

test.each([[[]], [['--follow']]])(
  'emulator journal %j of a hostile emulator shows no control character',
  async (flags) => {
    const hostile = '\u001b[31m\u202e\r';
    const fields = { seq: 1, t: 5, instance: hostile, stream: hostile, device: hostile, from: hostile };
    const entries = [
      { ...fields, type: 'stream-closed', remarks: hostile },
      { ...fields, type: 'token-issued', remaining: hostile },
      {
        ...fields,
        type: 'request-refused',
        status: hostile,
        code: hostile,
        message: hostile,
        count: hostile,
      },
      { ...fields, type: hostile },
      { ...fields, type: 'control' },
      { seq: 2, t: 6, type: 'violation', rule: 5 },
    ];
    const { baseUrl } = await services.http((response) => {
      if (flags.length === 0) response.end(JSON.stringify(entries));
      else response.end(entries.map((entry) => `data: ${JSON.stringify(entry)}\n\n`).join(''));
    });
    const { code, stdout, stderr } = await sandbox.runHere([
      'emulator',
      'journal',
      ...flags,
      '--base-url',
      baseUrl,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toHaveLength(entries.length);
    expect(stdout).not.toMatch(/[\u001b\u202e\r]/);
  },
);

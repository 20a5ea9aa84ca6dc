import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  type CallToolResult,
  type JSONRPCMessage,
  ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { findMarked } from '../helpers/marked-processes.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { jsonLines, program, setUpSandboxForAll } from '../helpers/voicectl.ts';

/** The whole file shares the servers and their folder: starting a server takes longer than most calls. */
const sandbox = setUpSandboxForAll();
const device = join(import.meta.dirname, '..', '..', 'examples', 'devices', 'device.js');
const apiKey = 'the-real-key-31337';
const controlSecret = 'control-secret-4711';

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON
type Answer = any;

/** A server with a client of the protocol's own library, over the standard streams of the built program. */
async function connect(mark: string, flags: readonly string[], env: Record<string, string>) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...flags],
    cwd: sandbox.dir,
    env: { PATH: process.env.PATH ?? '', HOME: sandbox.path('home'), CASE: mark, ...env },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  sandbox.defer(() => client.close());
  /** The text of an answer, which is short and contains no secret. */
  const textOf = ({ content: [content] }: CallToolResult): string => {
    const text = content?.type === 'text' ? content.text : '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(24_500);
    for (const secret of [apiKey, controlSecret]) expect(text + stderr).not.toContain(secret);
    return text;
  };
  const ask = async (name: string, args: Record<string, unknown> = {}) => {
    const result = (await client.callTool({ name, arguments: args }, undefined, {
      timeout: 110_000,
    })) as CallToolResult;
    return { isError: result.isError === true, answer: JSON.parse(textOf(result)) as Answer };
  };
  /** The answer of a tool, which must not have failed. */
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Answer> => {
    const { isError, answer } = await ask(name, args);
    expect({ isError, answer }).toMatchObject({ isError: false });
    return answer;
  };
  /** The same, with the messages about its progress. */
  const follow = async (name: string, args: Record<string, unknown>) => {
    const messages: string[] = [];
    const seen: number[] = [];
    const transport = client.transport!;
    const read = transport.onmessage;
    // Seen as they come in: the client passes on no progress that it reads in one piece with the answer.
    transport.onmessage = (message: JSONRPCMessage) => {
      const progress = ProgressNotificationSchema.safeParse(message).data?.params;
      if (progress !== undefined) {
        messages.push(progress.message ?? '');
        seen.push(progress.progress);
      }
      read?.(message);
    };
    const result = await client.callTool({ name, arguments: args }, undefined, { onprogress() {} });
    transport.onmessage = read!;
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    return { answer: JSON.parse(textOf(result as CallToolResult)) as Answer, messages };
  };
  /** Why a call is refused. */
  const refusal = async (name: string, args: Record<string, unknown> = {}): Promise<string> => {
    const { isError, answer } = await ask(name, args);
    expect(isError).toBe(true);
    return `${answer.error.message} ${answer.error.hint ?? ''}`;
  };
  return { client, transport, call, ask, follow, refusal };
}
type Connected = Awaited<ReturnType<typeof connect>>;

/** A server that is started on first use, and again after its end. It and everything that it starts have a mark in the environment. */
function serverWith(name: string, flags: readonly string[], env: Record<string, string>) {
  const mark = `mcp-test-${process.pid}-${name}`;
  let connected: Promise<Connected> | undefined;
  return {
    /** The processes of the server. */
    processes: () => findMarked(`CASE=${mark}`),
    connect: () => {
      connected ??= connect(mark, flags, env);
      return connected;
    },
    /** Resolves when it has ended and nothing is left of it. */
    async expectEnd() {
      connected = undefined;
      await vi.waitFor(async () => expect(await findMarked(`CASE=${mark}`)).toEqual([]), 10_000);
    },
  };
}

const secrets = { VOICECTL_API_KEY: apiKey, VOICECTL_CONTROL_SECRET: controlSecret };
/** A server with secrets, whose client may not send them anywhere. */
const stranger = serverWith('stranger', ['--folder', 'out'], secrets);
/** A server whose client may send them to this machine, and may write nothing. */
const friendly = ['--allow-target', '127.0.0.1', '--api-key-file', 'key.txt'];
/** The key of the flag is the one that it sends. */
const friend = serverWith('friend', friendly, {
  ...{ VOICECTL_CONTROL_SECRET: controlSecret, VOICECTL_API_KEY: 'the-key-of-the-environment' },
});
beforeAll(() => void sandbox.write('key.txt', `${apiKey}\n`, 0o600));

const hasProc = existsSync('/proc/self/environ');

describe('the tools', () => {
  test('are listed with schemas that refuse unknown arguments', async () => {
    const { client } = await stranger.connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['list', 'start', 'stop', 'state', 'journal', 'clock', 'faults'],
      ...['stream', 'check', 'drill', 'inspect'],
    ]);
    for (const { description, inputSchema } of tools) {
      expect(description).toMatch(/\.$/);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
    expect(client.getInstructions()).toContain('journal');
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(13_000);
  });

  test('list: what other tools take', async () => {
    const { call } = await stranger.connect();
    const { faults } = await call('list', { of: 'faults' });
    expect(faults).toContainEqual(expect.objectContaining({ name: 'token-slow' }));
    expect(faults.find(({ name }: Answer) => name === 'close').parameters).toContain('code=');
    expect((await call('list', { of: 'situations' })).situations).toContainEqual({
      value: 'D1',
      help: expect.any(String),
    });
    expect((await call('list', { of: 'sounds' })).sounds.map(({ value }: Answer) => value)).toContain(
      'hello.wav',
    );
  });

  test('start, state, journal, clock, faults, stop: an emulator from its start to its end', async () => {
    const { call } = await stranger.connect();
    const { id, baseUrl } = await call('start', { faults: ['token-unauthorized:times=1'], rateLimit: 2 });
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const ask = () =>
      fetch(`${baseUrl}/api/websocket-voice/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"apiKey":"some-key","deviceId":"lamp-1"}',
      });
    const statuses = [];
    for (let index = 0; index < 4; index += 1) statuses.push((await ask()).status);
    expect(statuses).toContain(429);

    const { devices, faults } = await call('state', { service: id });
    expect(devices).toMatchObject([{ device: 'lamp-1', limit: 2 }]);
    expect(faults).toMatchObject([{ name: 'token-unauthorized', struck: 1 }]);

    const journal = await call('journal', { service: id, level: 'warning' });
    expect(journal.events.map(({ type, cause }: Answer) => `${type} ${cause}`)).toContain(
      'request-refused rateLimited',
    );
    const one = await call('journal', { service: id, type: 'token-issued', limit: 1 });
    expect({ total: one.total, shown: one.events.length }).toEqual({ total: 2, shown: 1 });

    const { aheadMs } = await call('clock', { service: id, advance: '61s' });
    expect(aheadMs).toBe(61_000);
    expect((await ask()).status).toBe(200);
    expect((await call('clock', { service: id })).aheadMs).toBe(61_000);

    const { active } = await call('faults', { service: id, add: ['token-slow:delay=1s'], clear: 'all' });
    expect(active).toMatchObject([{ name: 'token-slow' }]);
    expect(await call('faults', { service: id, clear: active[0].id })).toEqual({ active: [] });

    const stopped = await call('stop', { id });
    expect(stopped).toMatchObject({ id, exitCode: 0, events: { listening: 1, 'token-issued': 3 } });
    await expect(fetch(baseUrl)).rejects.toThrow();
  });

  test('stream: through a recording proxy to an emulator with a fault: the cause is in the journals', async () => {
    const { call } = await stranger.connect();
    const behind = await call('start', { faults: ['close:code=1012,after=300ms'] });
    const proxy = await call('start', { what: 'proxy', target: behind.id, record: 'streams' });
    const { exitCode, summary, counts, events } = await call('stream', {
      service: proxy.id,
      device: 'lamp-1',
      expect: { expectAudio: '500ms', events: ['service_voice_connected'] },
    });
    expect(exitCode).toBe(6);
    expect(summary).toMatchObject({ device: 'lamp-1', ok: false, close: { code: 1012 } });
    expect(counts.audio).toBeGreaterThan(0);
    expect(events.map(({ type }: Answer) => type)).not.toContain('audio');
    const { events: struck } = await call('journal', { service: behind.id, type: 'fault-struck' });
    expect(struck).toMatchObject([{ fault: 'close', device: 'lamp-1' }]);
    const { events: passed } = await call('journal', { service: proxy.id });
    expect(passed.map(({ type }: Answer) => type)).toEqual(
      expect.arrayContaining(['token-issued', 'stream-closed']),
    );
    for (const { id } of [proxy, behind]) await call('stop', { id });
    expect(existsSync(sandbox.path('out/streams'))).toBe(true);
  });

  test('stream: with an emulator of its own, expectations, a recording and a file; inspect shows it', async () => {
    const { call, follow } = await stranger.connect();
    // No setting of the user decides the target, and no value is mistaken for a flag.
    sandbox.write('voicectl.config.yaml', 'baseUrl: https://voice.example\nwsUrl: wss://voice.example\n');
    const { answer, messages } = await follow('stream', {
      device: '--help',
      ...{ file: 'barge-in.wav', pace: 'max', reply: 'echo' },
      expect: { expectAudio: '500ms' },
      record: 'session-1',
      out: 'reply.wav',
    });
    const { exitCode, summary } = answer;
    // Events as they happen, but not each audio message.
    expect(messages[0]).toMatch(/^session \{/);
    expect(messages.some((text) => text.startsWith('message {'))).toBe(true);
    expect(messages.filter((text) => text.length > 200 || text.startsWith('audio'))).toEqual([]);
    expect({ exitCode, ok: summary.ok, device: summary.device }).toEqual({
      exitCode: 0,
      ok: true,
      device: '--help',
    });
    expect(summary.verdicts).toMatchObject([{ name: 'expect-audio', ok: true }]);
    expect(readFileSync(sandbox.path('out/reply.wav')).subarray(0, 4).toString()).toBe('RIFF');
    const { result } = await call('inspect', { recording: 'out/session-1' });
    expect(result.manifest).toMatchObject({ source: expect.stringContaining('barge-in.wav') });
    expect(result.summary.ok).toBe(true);
  });

  test('check: the rules that did not pass in full, with progress', async () => {
    const { follow, call } = await stranger.connect();
    const { answer, messages } = await follow('check', { rules: ['R1', 'R9', 'R12'] });
    const { exitCode, rules } = answer;
    expect({ exitCode, pass: rules.pass }).toEqual({ exitCode: 0, pass: ['R1', 'R9', 'R12'] });
    expect(messages).toHaveLength(3);
    expect(messages[2]).toMatch(/^R12 pass: /);

    const { plan } = await call('check', { planOnly: true, rules: ['R1'] });
    expect(plan.requests).toBeGreaterThan(0);
  });

  test('drill: a device that passes, in two situations at a time', async () => {
    const { follow } = await stranger.connect();
    const command = [process.execPath, device];
    const chosen = { situations: ['D1', 'D2'], parallel: 2 };
    const { answer: good, messages } = await follow('drill', { command, ...chosen });
    expect(messages.map((text) => text.split(':')[0]).sort()).toEqual(['D1 pass', 'D2 pass']);
    expect(good.exitCode).toBe(0);
    expect(good.situations.pass.sort()).toEqual(['D1', 'D2']);
  }, 60_000);
});

test('stream: messages that are too long for an answer are counted, and listed by their length', async () => {
  const service = await startMiniService({
    connected({ say }) {
      say({ type: 'service_voice_connected' });
      for (let count = 0; count < 10; count += 1) say({ type: 'status', text: 'x'.repeat(1024 * 1024) });
    },
  });
  sandbox.defer(() => service[Symbol.asyncDispose]());
  const { ask } = await stranger.connect();
  const { answer } = await ask('stream', { service: service.baseUrl, wait: '1s' });
  const long = answer.events.filter(({ characters }: Answer) => characters > 1024 * 1024);
  expect(long).toHaveLength(10);
  expect(long[0]).toEqual({ type: 'message', t: expect.any(Number), characters: expect.any(Number) });
  expect(answer.counts.message).toBe(11);
}, 60_000);

describe('what a client may not do', () => {
  test('reach a host that is not this machine, in any spelling', async () => {
    const { refusal } = await stranger.connect();
    for (const service of [
      ...['https://voice.example', 'http://192.0.2.1:8787', 'http://2130706433.example', 'http://0.0.0.0:1'],
      ...['http://127.0.0.1.nip.example', 'http://[2001:db8::1]', 'http://localhost.example'],
    ]) {
      expect(await refusal('stream', { service })).toContain('--allow-target');
      expect(await refusal('check', { service })).toContain('--allow-target');
      expect(await refusal('journal', { service })).toContain('--allow-target');
      expect(await refusal('start', { what: 'proxy', target: service })).toContain('--allow-target');
    }
    for (const service of [
      'file:///etc/passwd',
      'http://user:pass@127.0.0.1',
      'http://127.0.0.1/?x',
      'emulator-9',
      '--local',
    ])
      expect(await refusal('stream', { service })).toContain('neither running nor the URL');
  });

  test('have the key or the control secret sent to a host that is not allowed by name, nor see them', async () => {
    const seen: string[] = [];
    const service = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      request.on('data', (chunk) => seen.push(String(chunk)));
      request.on('end', () => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { code: 'NO', message: `wrong key ${apiKey}` } }));
      });
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    sandbox.defer(() => service.close());
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    // Each answer is searched for both.
    const [unknown, known] = [await stranger.connect(), await friend.connect()];
    expect((await unknown.ask('stream', { service: url })).answer.exitCode).toBe(3);
    await unknown.refusal('state', { service: url });
    expect(seen.join()).not.toMatch(new RegExp(`${apiKey}|${controlSecret}`));
    await known.ask('stream', { service: url });
    expect(seen.join()).toContain(apiKey);
    expect(seen.join()).not.toContain(controlSecret);
    await known.refusal('state', { service: url });
    expect(seen.at(-1)).toBe(`Bearer ${controlSecret}`);
  });

  test('give them as an argument, which a recording would keep', async () => {
    const { refusal } = await friend.connect();
    const named = { device: `lamp ${apiKey}`, record: 'named', file: 'barge-in.wav' };
    expect(await refusal('stream', named)).toContain('An argument holds the API key');
    expect(existsSync(sandbox.path('out/named'))).toBe(false);
  });

  test('get them from a drill whose device prints its environment and the key file', async () => {
    const { call } = await friend.connect();
    const drilled = await call('drill', {
      command: ['sh', '-c', 'cat key.txt; env; exit 3'],
      situations: ['D1'],
      deviceTimeout: '2s',
    });
    // This device does not pass either.
    expect(drilled.exitCode).not.toBe(0);
    expect(JSON.stringify(drilled)).toContain('D1');
  });

  test('write outside the folder', async () => {
    mkdirSync(sandbox.path('out'), { recursive: true });
    mkdirSync(sandbox.path('elsewhere'));
    symlinkSync(sandbox.path('elsewhere'), sandbox.path('out/link'));
    symlinkSync(sandbox.path('elsewhere/new.wav'), sandbox.path('out/dangling.wav'));
    symlinkSync(sandbox.path('elsewhere'), sandbox.path('out/linked-session'));
    const { refusal } = await stranger.connect();
    for (const name of [
      '../x.wav',
      '/tmp/x.wav',
      'link/x.wav',
      '.',
      '..',
      'a/../../x.wav',
      'dangling.wav',
      'linked-session',
    ])
      expect(await refusal('stream', { out: name })).toContain('--folder');
    expect(await refusal('stream', { record: '../session' })).toContain('--folder');
    expect(
      await refusal('start', { what: 'proxy', target: 'http://127.0.0.1:1', record: '/tmp/s' }),
    ).toContain('--folder');
    const without = await friend.connect();
    expect(await without.refusal('stream', { out: 'x.wav' })).toContain('--folder');
    expect(existsSync(sandbox.path('x.wav'))).toBe(false);
  });

  test('read files beyond the working folder, or use modules', async () => {
    const { refusal, call } = await stranger.connect();
    symlinkSync('/etc', sandbox.path('etc'));
    expect(await refusal('stream', { file: '/etc/passwd' })).toContain('working folder');
    expect(await refusal('stream', { file: 'etc/passwd' })).toContain('working folder');
    expect(await refusal('stream', { file: '-' })).toContain('Standard input');
    expect(await refusal('check', { dialect: '../../etc/passwd' })).toContain('working folder');
    expect(await refusal('inspect', { recording: '/etc' })).toContain('working folder');
    mkdirSync(sandbox.path('recording'));
    symlinkSync('/etc/passwd', sandbox.path('recording/recording.json'));
    expect(await refusal('inspect', { recording: 'recording' })).toContain('working folder');
    expect(await refusal('start', { reply: 'replay:recording' })).toContain('working folder');
    expect(await refusal('start', { reply: 'exec:touch ran' })).toContain('reply');
    expect(await refusal('start', { reply: 'module:./x.js' })).toContain('reply');
    expect(await refusal('start', { reply: 'file:/etc/passwd' })).toContain('working folder');
    symlinkSync('/etc/passwd', sandbox.path('barge-in'));
    for (const scenario of ['barge-in', 'etc/passwd', '/etc/passwd', '../../../etc/passwd'])
      expect(await refusal('start', { scenario })).toContain('working folder');
    sandbox.write('greets.yaml', 'steps: [{ when: connected, do: [{ say: hello.wav }] }]');
    const greeting = await call('start', { scenario: 'greets.yaml' });
    expect(JSON.stringify(greeting)).toContain('emulator-');
    symlinkSync('/etc/passwd', sandbox.path('linked.wav'));
    for (const sound of ['/etc/passwd', '../../../etc/passwd', 'linked.wav']) {
      sandbox.write('speaks.yaml', `steps: [{ when: connected, do: [{ say: ${sound} }] }]`);
      expect(await refusal('start', { scenario: 'speaks.yaml' })).toContain('working folder');
    }
  });

  test('send nonsense: each message is refused with an explanation, and the server goes on', async () => {
    const { refusal, call, client } = await stranger.connect();
    expect(await refusal('strem')).toContain('did you mean stream');
    expect(await refusal('constructor')).toContain('no tool');
    expect(await refusal('stream', { nonsense: 1 })).toContain('nonsense: no such setting');
    expect(await refusal('stream', { file: 7 })).toContain('file: expected string');
    expect(await refusal('stream', { file: '' })).toContain('file');
    expect(await refusal('stream', { device: 'a\0b' })).toContain('NUL');
    expect(await refusal('stream', { device: 'x'.repeat(5_000) })).toContain('device');
    expect(await refusal('drill', { command: [] })).toContain('command');
    expect(await refusal('drill', { command: new Array(65).fill('x') })).toContain('command');
    expect(await refusal('start', { faults: ['no-such-fault'] })).toContain('no-such-fault');
    expect(await refusal('start', { what: 'proxy' })).toContain('target');
    expect(await refusal('faults', { service: 'http://127.0.0.1:1', add: ['nope'] })).toContain('nope');
    expect(await refusal('clock', { service: 'http://127.0.0.1:1', advance: 'soon' })).toContain('advance');
    expect(await refusal('journal', { service: 'http://127.0.0.1:1', limit: 1e9 })).toContain('limit');
    expect(await refusal('stream', { repeat: 1e9 })).toContain('repeat');
    expect(await refusal('stream', { expect: { close: 'soon' } })).toContain('close');
    expect(await refusal('stream', JSON.parse('{"__proto__":{"file":"x"},"expect":[]}'))).toContain('expect');
    expect(await refusal('inspect', { recording: '\u202e\u001b[31m' })).toContain('Cannot read');
    await expect(client.request({ method: 'no/such' }, {} as never)).rejects.toThrow();
    expect((await call('list', { of: 'networks' })).networks.length).toBeGreaterThan(5);
  });
});

describe.runIf(hasProc)('what is left behind', () => {
  test('a cancelled call leaves no process, and sends nothing more', async () => {
    const { client, transport, call } = await friend.connect();
    execFileSync('mkfifo', [sandbox.path('slow.yaml')]);
    // A command, one that has started others, and a server.
    const cases: [string, Record<string, unknown>][] = [
      ['stream', { file: 'two-turns.wav', pace: '0.1' }],
      ['drill', { command: ['sh', '-c', 'sleep 600 & exec sleep 600'] }],
      // Nobody writes to it: the emulator never listens.
      ['start', { scenario: 'slow.yaml' }],
    ];
    for (const [name, args] of cases) {
      const own = await friend.processes();
      const cancel = new AbortController();
      const answer = client.callTool({ name, arguments: args }, undefined, { signal: cancel.signal });
      answer.catch(() => {});
      await vi.waitFor(
        async () => expect((await friend.processes()).length).toBeGreaterThan(own.length),
        10_000,
      );
      cancel.abort('enough');
      await expect(answer).rejects.toThrow('enough');
      await vi.waitFor(async () => expect(await friend.processes()).toEqual([transport.pid]), 15_000);
    }
    expect((await call('list', { of: 'networks' })).networks.length).toBeGreaterThan(5);
  }, 60_000);

  test('everything ends when the client goes away', async () => {
    const { client, call } = await friend.connect();
    await call('start');
    void client.callTool({ name: 'drill', arguments: { command: ['sleep', '600'] } }).catch(() => {});
    await vi.waitFor(async () => expect((await friend.processes()).length).toBeGreaterThan(3), 10_000);
    await client.close();
    await friend.expectEnd();
  }, 30_000);

  test('everything ends when the server is killed', async () => {
    const { call, transport } = await stranger.connect();
    await call('start');
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await stranger.expectEnd();
  }, 30_000);
});

test('standard output carries only the protocol, even after input that is not a message, and hundreds of calls are answered without a warning', async () => {
  const server = sandbox.start(['mcp', '--verbose'], { input: 'open' });
  const send = (message: string) => server.child.stdin?.write(`${message}\n`);
  const call = (id: number, name: string, args: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
  send('this is no JSON');
  send('{"jsonrpc":"2.0"}');
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: client }));
  await server.line(/"id":1\b/);
  send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  const calls = Array.from({ length: 200 }, (_, at) => call(at + 3, 'list', { of: 'networks' }));
  send(
    [call(2, 'stream', { file: 'cough.wav', pace: 'max', reply: 'silence', wait: '100ms' }), ...calls].join(
      '\n',
    ),
  );
  await server.line(/"id":2\b/);
  server.child.stdin?.end();
  const { code, stdout, stderr } = await server.ended;
  expect(code).toBe(0);
  const answers = jsonLines(stdout);
  for (const answer of answers) expect(answer).toMatchObject({ jsonrpc: '2.0' });
  const ids = answers.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
  expect(ids).toEqual(Array.from({ length: 202 }, (_, at) => at + 1));
  for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^voicectl mcp: /);
});

test('a message of more than 10 MiB ends the server with a reason', async () => {
  const long = await sandbox.runHere(['mcp'], { input: ' '.repeat(11 * 1024 * 1024) });
  expect(long.code).toBe(2);
  expect(long.stderr).toBe('voicectl: A message from the client is longer than 10 MiB\n');
});

import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type ClientOptions, type RawData, WebSocket } from 'ws';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { faultCatalogue, faultNames, proxyRefusal } from '../../src/protocol/faults.ts';
import { readFault } from '../../src/protocol/read-fault.ts';
import type { WireMessage } from '../../src/wire/exchange.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { silence, speech } from '../helpers/pcm.ts';
import { converse, framesOf } from '../helpers/proxied-device.ts';
import { setUpProxies, type WatchedProxy } from '../helpers/proxies.ts';
import { setUpServices } from '../helpers/services.ts';

const startProxy = setUpProxies();
const services = setUpServices();
const soon = { timeout: 30_000 };

/** Faults that take their time, shortened. */
const quick: Record<string, string> = {
  'token-slow': 'delay=10ms',
  'upgrade-slow': 'delay=10ms',
  'connected-late': 'delay=10ms',
  burst: 'every=10ms',
  stall: 'for=10ms',
};
const spelled = (name: string) => (quick[name] === undefined ? name : `${name}:${quick[name]}`);
/** The device waits for an answer that never comes. */
const endless = ['token-hang', 'upgrade-hang', 'half-open', 'deaf'];

/** What a side is blamed for. Not for bursts: the device of these tests is as late as a busy machine makes it. */
function blamed({ events }: WatchedProxy, side: 'device' | 'service') {
  return events.flatMap((event) =>
    event.type === 'violation' && event.from === side && event.rule !== 'D5'
      ? [`${event.rule}: ${event.value}`]
      : [],
  );
}

async function tokenOf({ baseUrl }: { baseUrl: string }) {
  const answer = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"apiKey":"key-1","deviceId":"lamp"}',
  });
  return { answer, token: ((await answer.json().catch(() => ({}))) as { token?: string }).token ?? '' };
}

/** A confirmed stream, and what reaches its device. */
async function open(proxy: WatchedProxy, options: ClientOptions = {}) {
  const { token } = await tokenOf(proxy);
  const device = new WebSocket(`${proxy.wsUrl}/voice-stream`, options);
  const got: (string | Buffer)[] = [];
  device.on('error', () => {});
  device.on('message', (data: RawData, isBinary) => got.push(isBinary ? (data as Buffer) : String(data)));
  await once(device, 'open');
  device.send(token);
  return { device, got, texts: () => got.filter((one) => typeof one === 'string') };
}

describe('a fault towards the device', () => {
  const refused = faultNames.filter((name) => proxyRefusal(readFault(name)) !== undefined);
  const names = faultNames.filter(
    (name) => !endless.includes(name) && !refused.includes(name) && name !== 'reply-lost',
  );
  test.each(refused)('%s is refused, with the reason', async (name) => {
    await using emulator = await createEmulator({ reply: 'echo' });
    const why = expect.stringContaining(proxyRefusal(readFault(name)) as string);
    await expect(startProxy(emulator, { faults: [name] })).rejects.toMatchObject({
      code: 'usage',
      message: why,
    });
  });

  test.each(names)('%s strikes, and is held against no side', async (name) => {
    await using emulator = await createEmulator({ reply: 'echo' });
    const proxy = await startProxy(emulator, { faults: [spelled(name)] });
    await converse(proxy).catch(() => {});
    await expect.poll(() => proxy.events.some((event) => event.type === 'fault-struck'), soon).toBe(true);
    expect(proxy.events.find((event) => event.type === 'fault-struck')).toMatchObject({ fault: name });
    await proxy.close();
    expect([...blamed(proxy, 'service'), ...blamed(proxy, 'device')]).toEqual([]);
  });

  test('reply-lost strikes after a short sound that follows the turn, and is held against no side', async () => {
    const audio = framesOf(Buffer.concat([speech(1_200), silence(900), speech(300), silence(900)]));
    let heard = 0;
    await using service = await startMiniService({
      onAudio({ socket }) {
        heard += 1;
        if (heard === audio.length) socket.send(speech(200));
      },
    });
    const proxy = await startProxy(service, { faults: ['reply-lost'] });
    await converse(proxy, { audio });
    await proxy.close();
    expect(proxy.events.find((event) => event.type === 'fault-struck')).toMatchObject({
      fault: 'reply-lost',
    });
    expect([...blamed(proxy, 'service'), ...blamed(proxy, 'device')]).toEqual([]);
  });

  test.each(endless)('%s leaves the device waiting', async (name) => {
    await using emulator = await createEmulator({ reply: 'echo' });
    const proxy = await startProxy(emulator, { faults: [name] });
    void converse(proxy).catch(() => {});
    await expect.poll(() => proxy.events.some((event) => event.type === 'fault-struck'), soon).toBe(true);
    await proxy.close();
    expect(blamed(proxy, 'service')).toEqual([]);
  });

  test.each([
    ['token-error:status=500', 500],
    ['token-unauthorized', 401],
    ['token-unavailable', 503],
    ['rate-limited:reset=7s', 429],
    ['token-redirect', 307],
  ])('%s is answered with %i', async (fault, status) => {
    await using emulator = await createEmulator();
    const proxy = await startProxy(emulator, { faults: [fault] });
    const { answer } = await tokenOf(proxy);
    expect(answer.status).toBe(status === 307 ? 404 : status);
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
  });

  test('a made-up 429 says when to come back as the dialect does', async () => {
    await using emulator = await createEmulator();
    const retryAfterOf = async (retryAfter: 'none' | 'http-date') => {
      const dialect = { rateLimit: { retryAfter } };
      const { answer } = await tokenOf(await startProxy(emulator, { faults: ['rate-limited'], dialect }));
      return answer.headers.get('retry-after');
    };
    expect(await retryAfterOf('none')).toBeNull();
    expect(await retryAfterOf('http-date')).toMatch(/ GMT$/);
  });

  test.each(['token-expired', 'token-other-issuer', 'token-bad-signature'])(
    '%s: the service refuses the token',
    async (fault) => {
      await using emulator = await createEmulator();
      const proxy = await startProxy(emulator, { faults: [fault] });
      const { device } = await open(proxy);
      const [code] = await once(device, 'close');
      expect(code).toBe(4401);
    },
  );

  test('a compressed answer reaches the device changed, and can be read', async () => {
    const { baseUrl } = await services.http((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      response.end(gzipSync('{"token":"a.b.c","more":1}'));
    });
    const proxy = await startProxy({ baseUrl }, { faults: ['token-bad-signature'] });
    const { answer, token } = await tokenOf(proxy);
    expect({ status: answer.status, token }).toEqual({ status: 200, token: 'a.b.A' });
  });

  test('half of an answer that is not JSON is half of its text', async () => {
    const { baseUrl } = await services.http((response) => response.end('<p>12345678</p>'));
    const proxy = await startProxy({ baseUrl }, { faults: ['token-truncated'] });
    const answer = await fetch(`${proxy.baseUrl}/api/websocket-voice/token`, {
      method: 'POST',
      body: '{"apiKey":"key-1","deviceId":"lamp"}',
    });
    expect(await answer.text()).toBe('<p>1234');
  });

  test.each<[string, (response: ServerResponse) => unknown, RegExp]>([
    [
      'breaks off',
      (response) => {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('{"token":', () => response.destroy());
      },
      /The target’s response broke off/,
    ],
    ['has no end', (response) => response.end('x'.repeat(3_000_000)), /longer than 2 MiB/],
  ])('an answer that %s is the target’s fault, and no bug', async (_, respond, why) => {
    const { baseUrl } = await services.http((response) => respond(response));
    const proxy = await startProxy({ baseUrl }, { faults: ['token-slow:delay=10ms'] });
    const { answer } = await tokenOf(proxy);
    expect(answer.status).toBe(503);
    expect(proxy.events.filter(({ type }) => type === 'bug')).toEqual([]);
    const refused = proxy.events.find((event) => event.type === 'request-refused');
    expect(JSON.stringify(refused)).toMatch(why);
  });

  test('a device that hangs up while its token is held back gets none from the target', async () => {
    const { baseUrl, requests } = await services.http((response) => response.end('{}'));
    const clock = createManualClock();
    const proxy = await startProxy({ baseUrl }, { clock, faults: ['token-slow:device=lamp,delay=60s'] });
    const askToken = (deviceId: string) =>
      request(`${proxy.baseUrl}/api/websocket-voice/token`, { method: 'POST', agent: false }).end(
        JSON.stringify({ apiKey: 'key-1', deviceId }),
      );
    const impatient = askToken('lamp');
    const hungUp = expect(once(impatient, 'response')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect.poll(() => proxy.control.faults.list()).toMatchObject([{ struck: 1 }]);
    impatient.destroy();
    await hungUp;
    // The proxy has read of the end once it has passed on what came later.
    await once(askToken('other'), 'response');
    clock.advance(60_000);
    await once(askToken('other'), 'response');
    expect(requests.map(({ body }) => JSON.parse(body).deviceId)).toEqual(['other', 'other']);
    expect(proxy.events.filter(({ type }) => type === 'bug')).toEqual([]);
  });

  test('a burst that is cleared while audio is held back leaves it before what comes later', async () => {
    let service: WebSocket | undefined;
    const wsUrl = await services.ws((peer) => {
      service = peer;
      peer.once('message', () => peer.send('{"type":"service_voice_connected"}'));
    });
    const clock = createManualClock();
    const proxy = await startProxy({ wsUrl }, { clock, faults: ['burst:every=10s'] });
    const device = new WebSocket(`${proxy.wsUrl}/voice-stream`);
    const got: string[] = [];
    device.on('message', (data: Buffer, isBinary) => got.push(isBinary ? `audio ${data[0]}` : String(data)));
    await once(device, 'open');
    device.send('a.b.c');
    await expect.poll(() => got.length, soon).toBe(1);
    const say = async (audio: number) => {
      service?.send(Buffer.alloc(640, audio));
      service?.send(`text after ${audio}`);
      await expect.poll(() => got, soon).toContain(`text after ${audio}`);
    };
    await say(1);
    expect(got).not.toContain('audio 1');
    proxy.control.faults.clear();
    await say(2);
    clock.advance(10_000);
    const audio = () => got.filter((one) => one.startsWith('audio'));
    await expect.poll(audio, soon).toEqual(['audio 1', 'audio 2']);
    device.terminate();
  });

  test('a close, a message and a cut strike live streams as soon as they are added', async () => {
    await using emulator = await createEmulator({ reply: 'silence' });
    const seen: WireMessage[] = [];
    const proxy = await startProxy(emulator, { tap: () => ({ message: (message) => seen.push(message) }) });
    const { device, texts } = await open(proxy);
    await expect.poll(() => texts().length, soon).toBeGreaterThan(0);
    const added = await runInProcess([
      'emulator',
      'fault',
      'add',
      'message-unknown:kind=surprise',
      '--base-url',
      proxy.baseUrl,
    ]);
    expect(added).toMatchObject({ code: 0 });
    await expect.poll(() => texts().some((text) => String(text).includes('surprise')), soon).toBe(true);
    const injected = seen.filter((message) => message.injected === true);
    expect(injected).toMatchObject([
      { from: 'service', opcode: 'text', text: expect.stringContaining('surprise') },
    ]);
    const closed = once(device, 'close');
    proxy.control.faults.add('close:code=4321,reason=spoilt');
    expect((await closed).map(String)).toEqual(['4321', 'spoilt']);
    await expect
      .poll(() => proxy.events.find(({ type }) => type === 'stream-closed'), soon)
      .toMatchObject({
        code: 4321,
        cause: 'fault',
      });
  });

  test('strikes only the stream, the device and the times that it names', async () => {
    await using emulator = await createEmulator({ reply: 'echo' });
    const proxy = await startProxy(emulator, { faults: ['mute:device=other', 'close:stream=2,code=4002'] });
    await converse(proxy, { times: 2 });
    const ends = () => proxy.events.flatMap((event) => (event.type === 'stream-closed' ? [event.code] : []));
    await expect.poll(ends, soon).toEqual([1000, 4002]);
  });
});

describe('a fault towards the service', () => {
  const names = faultNames.filter(
    (name) => ['live', 'audio'].includes(faultCatalogue[name].at) && !endless.includes(name),
  );
  test.each(names)('%s is held against no side, even if the service echoes it', async (name) => {
    await using emulator = await createEmulator({ reply: 'echo' });
    const settings = [quick[name] ?? [], 'direction=service'].flat().join();
    const proxy = await startProxy(emulator, { faults: [`${name}:${settings}`] });
    await converse(proxy);
    await expect.poll(() => proxy.events.some((event) => event.type === 'fault-struck'), soon).toBe(true);
    await proxy.close();
    expect([...blamed(proxy, 'service'), ...blamed(proxy, 'device')]).toEqual([]);
  });

  const sent = Buffer.from(Array.from({ length: 640 }, (_, at) => at % 251));

  /** What the service gets of one message of audio. */
  async function spoilt(fault: string) {
    const heard: Buffer[] = [];
    await using emulator = await createEmulator({
      reply: () => ({ hear: (pcm) => heard.push(Buffer.from(pcm)) }),
    });
    const proxy = await startProxy(emulator, { faults: [fault] });
    const { device, texts } = await open(proxy);
    await expect.poll(() => texts().length, soon).toBeGreaterThan(0);
    device.send(sent);
    device.send('the end');
    await expect
      .poll(() => texts().some((text) => String(text).includes('UNEXPECTED_TEXT')), soon)
      .toBe(true);
    return { heard: Buffer.concat(heard), proxy };
  }

  test.each([
    ['swapped-bytes', Buffer.from(sent).swap16()],
    ['duplicate', Buffer.concat([sent, sent])],
    ['drop', Buffer.alloc(0)],
    ['silent', Buffer.alloc(640)],
  ])('%s changes the audio of the device, and is not held against it', async (name, expected) => {
    const { heard, proxy } = await spoilt(`${name}:direction=service`);
    expect(heard.equals(expected)).toBe(true);
    expect(blamed(proxy, 'device')).toEqual([]);
  });

  test('does not change audio in the other direction', async () => {
    const { heard } = await spoilt('swapped-bytes:direction=device');
    expect(heard.equals(sent)).toBe(true);
  });

  test.each([false, true])('a reset ends both sides without a close frame: over TLS %s', async (tls) => {
    await using emulator = await createEmulator({ tls });
    const target = tls ? { ...emulator, ca: emulator.certificate } : emulator;
    const proxy = await startProxy(target, { faults: ['reset:direction=service'] });
    const { device } = await open(proxy);
    expect((await once(device, 'close'))[0]).toBe(1006);
    expect(await emulator.waitFor('stream-closed')).toMatchObject({ code: 1006 });
    await expect.poll(() => proxy.events.some(({ type }) => type === 'stream-closed'), soon).toBe(true);
    expect(proxy.events.filter(({ type }) => type === 'bug')).toEqual([]);
  });

  test('a close reaches the service with its code', async () => {
    await using emulator = await createEmulator();
    const proxy = await startProxy(emulator, { faults: ['close:direction=service,code=4777'] });
    const { device } = await open(proxy);
    await once(device, 'close');
    const told = await emulator.waitFor('stream-closed');
    expect(told.code).toBe(4777);
  });
});

test.each(['device', 'service'])(
  'half-open towards the %s: no ping and no close is answered, and nobody is blamed',
  async (direction) => {
    await using emulator = await createEmulator({ reply: 'silence' });
    const proxy = await startProxy(emulator, { faults: [`half-open:direction=${direction}`] });
    // Not in the types of ws.
    const impatient = { closeTimeout: 500 } as ClientOptions;
    const { device } = await open(proxy, impatient);
    await expect.poll(() => proxy.events.some(({ type }) => type === 'fault-struck'), soon).toBe(true);
    let pongs = 0;
    device.on('pong', () => {
      pongs += 1;
    });
    device.ping();
    device.send(Buffer.alloc(640));
    device.close(1000, 'bye');
    const [code] = await once(device, 'close');
    expect([code, pongs]).toEqual([1006, 0]);
    expect(await emulator.waitFor('stream-closed')).toMatchObject({ code: 1006, framesIn: 0 });
    await expect
      .poll(() => proxy.events.find(({ type }) => type === 'stream-closed'), soon)
      .toMatchObject({
        cause: 'fault',
        code: 1006,
      });
    expect([...blamed(proxy, 'service'), ...blamed(proxy, 'device')]).toEqual([]);
  },
);

/** What a fault of the service itself breaks; those that are not here break nothing that the specification says. */
const broken: Record<string, string[]> = {
  'token-truncated': ['R6'],
  'token-missing': ['R6'],
  'token-gibberish': ['R23', 'R35', 'R9'],
  'token-huge': ['R23', 'R35', 'R9'],
  'token-expired': ['R11', 'R35'],
  'token-future': ['R11', 'R35'],
  'token-other-audience': ['R13', 'R35'],
  'token-other-issuer': ['R35'],
  'token-bad-signature': ['R35'],
  'auth-refused': ['R35'],
  'connection-limit': ['R35'],
  'connected-malformed': ['R35', 'R39'],
  'connected-unknown': ['R35'],
  'message-malformed': ['R39'],
  'swapped-bytes': ['R38'],
};

describe('a fault of the service itself', () => {
  const others = ['odd-split', 'message-unknown', 'close', 'reset', 'drop', 'token-html', 'upgrade-refused'];
  test.each([...Object.keys(broken), ...others])(
    '%s breaks only its own rules, of the service',
    async (name) => {
      await using emulator = await createEmulator({ reply: 'echo', faults: [spelled(name)] });
      const proxy = await startProxy(emulator);
      await converse(proxy).catch(() => {});
      await proxy.close();
      const rules = blamed(proxy, 'service').map((text) => text.split(':')[0]);
      expect([...new Set(rules)].toSorted()).toEqual(broken[name] ?? []);
      expect(blamed(proxy, 'device')).toEqual([]);
    },
  );
});

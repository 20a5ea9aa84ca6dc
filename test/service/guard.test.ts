import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import type { CreatePage, PageHost } from '../../src/service/control/page-handler.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { aboutRequest } from '../../src/service/guard.ts';
import type { Tap } from '../../src/wire/tap.ts';
import { jwt } from '../helpers/device-exchanges.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { openStream, type StreamClient } from '../helpers/stream-client.ts';

const startEmulator = setUpEmulators();
const startProxy = setUpProxies();
const clients: StreamClient[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});

const kinds = ['emulator', 'proxy'] as const;
interface Watched {
  tap?: (stream?: number) => Tap | undefined;
  page?: CreatePage;
}

/** An emulator, or a proxy in front of one. */
async function start(kind: (typeof kinds)[number], options: Watched = {}) {
  if (kind === 'emulator') return startEmulator({ rateLimit: 1_000, ...options });
  return startProxy(await startEmulator({ rateLimit: 1_000 }), options as { tap: (stream: number) => Tap });
}

type Started = Awaited<ReturnType<typeof start>>;

function askToken({ baseUrl }: Started, { query = '', headers = {}, fields = '' } = {}): Promise<Response> {
  return fetch(`${baseUrl}/api/websocket-voice/token${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: `{"apiKey":"key-1","deviceId":"device-1"${fields}}`,
  });
}

function open({ wsUrl }: Started, headers: Record<string, string> = {}): StreamClient {
  const client = openStream(wsUrl, { headers });
  client.opened.catch(() => {});
  client.connected.catch(() => {});
  clients.push(client);
  return client;
}

async function connect(service: Started, headers: Record<string, string> = {}): Promise<StreamClient> {
  const { token } = (await (await askToken(service)).json()) as { token: string };
  const client = open(service, headers);
  await client.opened;
  await client.send(token);
  return client;
}

const bugsOf = ({ events }: Started) =>
  events.filter((event): event is EmulatorEvent & { type: 'bug' } => event.type === 'bug');

const broken = () => {
  throw new TypeError('lists is not iterable');
};

describe.each(kinds)('what a handler of one connection of the %s throws', (kind) => {
  test.each<[when: string, tap: (stream?: number) => Tap | undefined]>([
    ['when a stream opens', (stream) => (stream === 1 ? { opened: broken } : undefined)],
    ['for a message', (stream) => (stream === 1 ? { message: broken } : undefined)],
  ])('%s closes that stream with 1011, is one line, and the others continue', async (_when, tap) => {
    const service = await start(kind, { tap });
    const bad = await connect(service).catch(() => clients.at(-1) as StreamClient);
    expect(await bad.closed).toMatchObject({ code: 1011 });
    const good = await connect(service);
    await good.connected;
    expect(bugsOf(service)).toMatchObject([{ stream: 1, why: 'TypeError: lists is not iterable' }]);
    const [line = '', ...more] = bugsOf(service).flatMap((event) => emulatorLines(event, createStyle(false)));
    expect(more).toEqual([]);
    expect(line).toMatch(
      /! stream 1 {2}bug {2}a bug in voicectl; please.* *lists is not iterable at .*guard\.test\.ts/,
    );
    await expect.poll(() => service.control.state()).toMatchObject({ streams: [{ stream: 2 }] });
  });

  test('after a stream has ended is reported, and the stream is over', async () => {
    const service = await start(kind, {
      tap: (stream) => (stream === 1 ? { closed: broken } : undefined),
    });
    const bad = await connect(service);
    await bad.connected;
    bad.socket.close(1000);
    await bad.closed;
    await expect.poll(() => bugsOf(service)).toMatchObject([{ stream: 1 }]);
    await (await connect(service)).connected;
    await expect.poll(() => service.control.state()).toMatchObject({ streams: [{ stream: 2 }] });
  });

  test('before a stream has a number is answered with 500 or closed with 1011', async () => {
    const service = await start(kind, { tap: (stream) => (stream === 1 ? broken() : undefined) });
    const bad = open(service);
    const end = await Promise.race([bad.closed.then(({ code }) => code), bad.opened.catch(String)]);
    expect([1011, 'Error: HTTP 500']).toContain(end ?? (await bad.closed).code);
    expect(bugsOf(service)).toHaveLength(1);
  });
});

describe.each(kinds)('what an observer of the page throws at the %s', (kind) => {
  const says = ({ control }: Started) => void control.send({ stream: 1 }, { status: 'speaking' });
  const hangsUp = (_service: Started, { socket }: StreamClient) => socket.close(1000);
  test.each<[when: string, tap: () => Tap, act?: (service: Started, client: StreamClient) => void]>([
    ['for a stream that is open', broken, () => {}],
    ['for a stream that opens', broken],
    ['at the upgrade', () => ({ opened: broken })],
    ['when somebody makes the service speak', () => ({ message: broken }), says],
    ['at the end', () => ({ closed: broken }), hangsUp],
  ])('%s ends that stream, and disturbs nobody else', async (_when, tap, act) => {
    let host: PageHost | undefined;
    const page: CreatePage = (made) => {
      host = made;
      return { token: 't', answer: async () => false, close: async () => {} };
    };
    const service = await start(kind, { page });
    const observe = () => host?.observe((stream) => (stream === 1 ? tap() : undefined));
    if (act === undefined) observe();
    const bad = await connect(service).catch(() => clients.at(-1) as StreamClient);
    if (act !== undefined) {
      await bad.connected;
      observe();
      act(service, bad);
    }
    expect((await bad.closed).code).toBe(act === hangsUp ? 1000 : 1011);
    await expect
      .poll(() => bugsOf(service))
      .toMatchObject([{ stream: 1, why: 'TypeError: lists is not iterable' }]);
    await (await connect(service)).connected;
    await expect.poll(() => service.control.state()).toMatchObject({ streams: [{ stream: 2 }] });
  });
});

test('what a tap throws for a ping ends that stream, and the other ones are pinged', async () => {
  const pinged = new Set<number | undefined>();
  const clock = createManualClock();
  const service = await startEmulator({
    clock,
    pingEveryMs: 1_000,
    tap: (stream) => ({
      message({ opcode }) {
        if (opcode === 'ping') pinged.add(stream);
        if (opcode === 'ping' && stream === 1) broken();
      },
    }),
  });
  const [bad, good] = [await connect(service), await connect(service)];
  await Promise.all([bad.connected, good.connected]);
  clock.advance(1_000);
  expect(await bad.closed).toMatchObject({ code: 1011 });
  expect(bugsOf(service)).toMatchObject([{ stream: 1 }]);
  await expect.poll(() => [...pinged]).toEqual([1, 2]);
  expect(good.socket.readyState).toBe(good.socket.OPEN);
});

test('what a handler of a token request throws is a 500 in the service’s format', async () => {
  let isBroken = true;
  const service = await start('emulator', {
    tap: () => ({
      token() {
        if (isBroken) throw new TypeError('no such field');
      },
    }),
  });
  // A query may hold a key or a token: the report goes to a terminal and the journal.
  const answer = await askToken(service, { query: '?apiKey=sk-canary' });
  expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: 'INTERNAL_ERROR' } }]);
  expect(bugsOf(service)).toMatchObject([
    { path: '/api/websocket-voice/token', why: 'TypeError: no such field' },
  ]);
  isBroken = false;
  expect((await askToken(service)).status).toBe(200);
});

test('the path of a report holds no token, not even a part of one that is cut', () => {
  const about = (path: string) =>
    aboutRequest({ url: `${path}?apiKey=k`, socket: { remoteAddress: '127.0.0.1' } } as IncomingMessage, {
      redact: (text) => text,
    });
  expect(about(`/elsewhere/${jwt(1)}`)).toEqual({ path: '/elsewhere/[redacted]', remote: '127.0.0.1' });
  expect(about(`/${'a'.repeat(180)}/${jwt(1)}`).path).not.toContain(jwt(1).slice(0, 10));
});

describe.each(kinds)('every name of Object.prototype is a name like any other to the %s', (kind) => {
  test.each(Object.getOwnPropertyNames(Object.prototype))('%s', async (name) => {
    const service = await start(kind);
    const named = Object.fromEntries([[name, 'x']]);
    const fields = `,"${name}":"x"`;
    const statuses = [
      (await askToken(service, { query: `?${name}=x` })).status,
      (await askToken(service, { headers: named })).status,
      (await askToken(service, { fields })).status,
    ];
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    await (await connect(service, named)).connected;
    const nameless = open(service);
    await nameless.opened;
    await nameless.send(`{"${name}":"x"}`);
    expect((await nameless.closed).code).not.toBe(1011);
    const control = await fetch(`${service.baseUrl}/__voicectl/journal?${name}=x`);
    expect(control.status).toBeLessThan(500);
    expect(bugsOf(service)).toEqual([]);
  });
});

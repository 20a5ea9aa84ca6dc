import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, test } from 'vitest';
import { callControl, createControlCaller, followJournal } from '../../../src/wire/client/control.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** An emulator that answers everything with this. */
async function answering(body: unknown) {
  const server = createServer((_request, response) => response.end(JSON.stringify(body)));
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl, secret: undefined, signal: new AbortController().signal };
}

const clock = { now: '2026-01-01T00:00:00.000Z', aheadMs: 5 };

test('an answer has the fields of its operation, and not what a newer emulator adds', async () => {
  const target = await answering({ ...clock, drift: 1 });
  expect(await callControl(target, 'clock')).toEqual(clock);
});

test('the calls of one caller share a connection, which ends with it', async () => {
  const target = await answering(clock);
  const [server] = servers;
  const ended: Promise<unknown>[] = [];
  server?.on('connection', (socket) => ended.push(once(socket, 'close')));
  const caller = createControlCaller(target);
  for (let call = 0; call < 3; call += 1) expect(await caller.call('clock')).toEqual(clock);
  await caller.end();
  expect(ended).toHaveLength(1);
  await Promise.all(ended);
});

test.each([
  ['a field that is missing', { now: clock.now }],
  ['a field of another type', { ...clock, aheadMs: '5' }],
  ['a list', [clock]],
  ['null', null],
])('an answer with %s is not one of an emulator', async (_what, answer) => {
  const target = await answering(answer);
  await expect(callControl(target, 'clock')).rejects.toMatchObject({
    code: 'protocol-violation',
    message: expect.stringContaining('is not a voicectl emulator'),
  });
});

test('an active fault keeps every parameter that was chosen', async () => {
  const fault = { id: 1, name: 'close', struck: 0, code: 1012 };
  expect(await callControl(await answering([fault]), 'faults')).toEqual([fault]);
});

/** An emulator whose answers never end. */
async function endless() {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const chunks = function* () {
    for (;;) yield chunk;
  };
  const server = createServer((_request, response) => {
    pipeline(Readable.from(chunks()), response).catch(() => {});
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl, secret: undefined, signal: new AbortController().signal };
}

test.each(['state', 'journal', 'clock', 'reset'] as const)(
  'an answer to %s that never ends is given up, and none of it is kept',
  async (operation) => {
    await expect(callControl(await endless(), operation)).rejects.toMatchObject({
      code: 'protocol-violation',
      message: expect.stringContaining('answered with more than 16 MiB'),
    });
  },
);

test('an event that never ends is given up', async () => {
  await expect(followJournal(await endless()).next()).rejects.toMatchObject({
    code: 'protocol-violation',
    message: expect.stringContaining('more than 4 MiB'),
  });
});

/** Moves the clock of undici, which times bodies that do not arrive. */
function moveTimeouts(ms: number): void {
  const timers = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms?: number): void };
  // The first tick starts those that are new.
  timers.tick();
  timers.tick(ms);
}

test('a journal in which nothing happens for an hour is followed on', async () => {
  let live: ServerResponse | undefined;
  const server = createServer((_request, response) => {
    live = response;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    write(1);
  });
  const write = (seq: number) =>
    live?.write(`data: {"seq":${seq},"t":${seq},"type":"listening","at":"2026-01-01T00:00:00.000Z"}\n\n`);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events = followJournal({ baseUrl, secret: undefined, signal: new AbortController().signal });
  expect((await events.next()).value).toMatchObject({ seq: 1 });
  const next = events.next();
  moveTimeouts(3_600_000);
  write(2);
  expect((await next).value).toMatchObject({ seq: 2 });
  await events.return(undefined);
});

import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { type Subject, startCommand, startEmulator, startProxy } from '../../bench/measure/subject.js';
import { repeat, systemClock, waitUntil } from '../../src/kernel/clock.ts';
import { streamPath, tokenPath } from '../../src/protocol/paths.ts';

export const floodedPlaces = ['proxy, from the device', 'proxy, from the service', 'serve'] as const;
export type FloodedPlace = (typeof floodedPlaces)[number];

/** What is sent on each of several streams: some bytes, several times. */
export interface Flood {
  name: string;
  streams: number;
  piece: (isMasked: boolean) => Buffer;
  times: number;
  /** Options of the command. */
  args?: readonly string[];
  /** A fault that begins once the streams are open. */
  fault?: object | undefined;
  /** How long the flood lasts, if it does not end by itself. */
  ms?: number;
  /** How long data in transit may take afterwards. Default: 10 s. */
  restMs?: number;
}

/** In megabytes, without garbage; `resident` includes garbage: the maximum above the value before. */
export interface FloodReport {
  place: FloodedPlace | 'client';
  flood: string;
  before: number;
  atMost: number;
  after: number;
  resident: number;
  /** How long after the flood `after` was measured. */
  restMs: number;
  /** How the streams ended, and how many in each way. */
  ends: Record<string, number>;
}

/** A flood is over when nothing has moved for this long. */
const quietMs = 500;
/** How often memory is measured. */
const measureEveryMs = 500;
/** How much may be left of a flood. */
export const givenBackBytes = 10e6;
/** Ending a stream takes a while on a busy machine. */
const givenBackMs = 10_000;

/** Sends a flood to a separate process, and returns the memory use of that process. */
export async function sendFlood(place: FloodedPlace, flood: Flood): Promise<FloodReport> {
  const service = await startSink();
  const args = [...(flood.args ?? [])];
  const subject = place === 'serve' ? await startEmulator({ args }) : await startProxy(service.port, args);
  try {
    // A small flood first, so that what is allocated on first use is not mistaken for what is kept.
    await pour(
      place,
      { ...flood, streams: 1, times: Math.min(2, flood.times), fault: undefined },
      subject,
      service,
    );
    const before = await subject.memory();
    // Linux: resets the peak of resident memory.
    writeFileSync(`/proc/${subject.pid}/clear_refs`, '5');
    let atMost = before.held;
    let isOver = false;
    const measuring = (async () => {
      while (!isOver) {
        atMost = Math.max(atMost, (await subject.memory()).held);
        await pause(measureEveryMs);
      }
    })();
    const ends = await pour(place, flood, subject, service);
    isOver = true;
    await measuring;
    const highest = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${subject.pid}/status`, 'utf8'))?.[1]);
    const endedAt = systemClock.now();
    let after = await subject.memory();
    while (
      after.held - before.held > givenBackBytes &&
      systemClock.now() - endedAt < (flood.restMs ?? givenBackMs)
    ) {
      await pause(measureEveryMs);
      after = await subject.memory();
    }
    return {
      place,
      flood: flood.name,
      before: before.held / 1e6,
      atMost: (atMost - before.held) / 1e6,
      after: (after.held - before.held) / 1e6,
      resident: (highest * 1024 - before.rss) / 1e6,
      restMs: systemClock.now() - endedAt,
      ends,
    };
  } finally {
    await subject.stop();
    service.stop();
  }
}

/** What a client receives once it is connected or has sent a request. */
export interface ClientFlood {
  name: string;
  args: (baseUrl: string) => readonly string[];
  /** A file that is its standard input. */
  stdin?: string;
  onStream?: (stream: WebSocket) => Promise<void>;
  onRequest?: (response: ServerResponse) => Promise<void>;
}

/** Sends a flood to a client, an endless one for `longestMs`, and returns the memory use of its process. */
export async function sendClientFlood(flood: ClientFlood, longestMs: number): Promise<FloodReport> {
  const service = await startSink();
  const stdin = flood.stdin === undefined ? 'ignore' : openSync(flood.stdin, 'r');
  const reached = new Promise<() => Promise<void>>((resolve) => {
    service.onStream = (stream) => resolve(async () => flood.onStream?.(stream));
    service.onRequest = (response) => resolve(async () => flood.onRequest?.(response));
  });
  const client = startCommand([...flood.args(`http://127.0.0.1:${service.port}`)], {
    env: { VOICECTL_API_KEY: 'key-of-the-flood' },
    stdin,
  });
  const held = async () =>
    Promise.race([client.memory(), client.ended.then(() => undefined)]).catch(() => undefined);
  try {
    const send = await reached;
    const before = (await held()) ?? { held: 0, rss: 0 };
    writeFileSync(`/proc/${client.pid}/clear_refs`, '5');
    const mark = () => {
      try {
        return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1] ?? 0);
      } catch {
        return 0;
      }
    };
    let [atMost, highest, isSent] = [before.held, 0, false];
    let after = before.held;
    const sending = Promise.race([send().catch(() => {}), client.ended, pause(longestMs)]).then(() => {
      isSent = true;
    });
    for (let isLast = false; !isLast; ) {
      isLast = isSent;
      const now = await held();
      highest = Math.max(highest, mark());
      if (now === undefined) break;
      atMost = Math.max(atMost, now.held);
      after = now.held;
      await pause(measureEveryMs / 2);
    }
    await sending;
    await client.stop();
    return {
      place: 'client',
      flood: flood.name,
      before: before.held / 1e6,
      atMost: (atMost - before.held) / 1e6,
      after: (after - before.held) / 1e6,
      resident: (highest * 1024 - before.rss) / 1e6,
      restMs: 0,
      ends: { [String(await client.ended)]: 1 },
    };
  } finally {
    await client.stop();
    if (typeof stdin === 'number') closeSync(stdin);
    service.stop();
  }
}

/** A service that reads everything. */
interface Sink {
  port: number;
  /** Called for each stream of a device. */
  onStream: (stream: WebSocket) => void;
  /** Called for each request that is not for a token. */
  onRequest: (response: ServerResponse) => void;
  stop(): void;
}

/** From these a proxy learns that a device has gone. */
const pingEveryMs = 5_000;

async function startSink(): Promise<Sink> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'HS256' })}.${part({ sub: 'd1' })}.c2lnbmF0dXJl`;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== tokenPath()) {
      sink.onRequest(response);
      return;
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  });
  const streams = new WebSocketServer({ server, perMessageDeflate: false });
  const sink: Sink = {
    port: 0,
    onStream: () => {},
    onRequest: (response) => void response.destroy(),
    stop() {
      for (const stream of streams.clients) stream.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
  streams.on('connection', (stream) => {
    stream.on('error', () => {});
    const pings = repeat(systemClock, pingEveryMs, () => stream.ping());
    stream.once('close', pings.cancel);
    stream.once('message', () => {
      stream.send('{"type":"service_voice_connected"}');
      sink.onStream(stream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  sink.port = (server.address() as AddressInfo).port;
  return sink;
}

async function pour(
  place: FloodedPlace,
  { streams, piece, times, fault, ms }: Flood,
  { port }: Subject,
  service: Sink,
): Promise<Record<string, number>> {
  const isMasked = place !== 'proxy, from the service';
  const bytes = piece(isMasked);
  const sources: Socket[] = [];
  service.onStream = (stream) => {
    if (!isMasked) sources.push(socketOf(stream));
  };
  const devices: WebSocket[] = [];
  for (let at = 0; at < streams; at += 1) devices.push(await openStream(port, `d${Math.floor(at / 10)}`));
  if (isMasked) sources.push(...devices.map(socketOf));
  if (fault !== undefined) await control(port, 'faults', fault);
  const all = Promise.all(sources.map((source) => write(source, bytes, times)));
  await (ms === undefined ? all : pause(ms));
  if (ms === undefined) await allIsStill([...devices.map(socketOf), ...sources]);
  const ends: Record<string, number> = {};
  for (const device of devices) {
    device.once('close', (code) => {
      ends[code] = (ends[code] ?? 0) + 1;
    });
    if (device.readyState === WebSocket.CLOSED) ends.before = (ends.before ?? 0) + 1;
    else device.terminate();
  }
  await Promise.all(devices.map((device) => device.readyState !== WebSocket.CLOSED && once(device, 'close')));
  await pause(quietMs);
  return ends;
}

async function openStream(port: number, deviceId: string): Promise<WebSocket> {
  const answer = await fetch(`http://127.0.0.1:${port}${tokenPath()}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey: 'key-of-the-flood', deviceId }),
  });
  const { token } = (await answer.json()) as { token: string };
  const device = new WebSocket(`ws://127.0.0.1:${port}${streamPath}`, { perMessageDeflate: false });
  device.on('error', () => {});
  await once(device, 'open');
  device.send(token);
  await once(device, 'message');
  return device;
}

async function control(port: number, what: string, body: object): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/__voicectl/${what}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
}

/** The connection under a WebSocket: bad frames cannot be sent otherwise. */
function socketOf(stream: WebSocket): Socket {
  return (stream as unknown as { _socket: Socket })._socket;
}

async function write(socket: Socket, bytes: Buffer, times: number): Promise<void> {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  for (let time = 0; time < times && !socket.destroyed; time += 1) {
    const isTaken = socket.write(bytes);
    if (!isTaken) await once(socket, 'drain', { signal: closed.signal }).catch(() => {});
  }
}

/** Resolves when no byte has moved on these connections for a while. */
async function allIsStill(sockets: readonly Socket[]): Promise<void> {
  let moved = -1;
  for (;;) {
    const now = sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
    if (now === moved) return;
    moved = now;
    await pause(quietMs);
  }
}

const pause = (ms: number) => waitUntil(systemClock, systemClock.now() + ms);

import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { hastyClock } from './hasten.ts';

/** A token request, as the hooks of a service see it. */
export interface MiniRequest {
  path: string;
  headers: IncomingMessage['headers'];
  fields: Record<string, unknown>;
  /** What the fields are without: the code, the message and the details of an error. */
  problem: MiniError | undefined;
}

export interface MiniError {
  code: string;
  message: string;
  details?: { field: string; expected: string };
}

export interface MiniStream {
  socket: WebSocket;
  device: string;
  token: string;
  say(fields: object): void;
}

/** What a service does at each point; a mutant is a service in which one of them is another. */
export interface MiniBehaviour {
  /** Where it listens. */
  host: string;
  /** Whether its clock can be moved, as an emulator's can. */
  isMovable: boolean;
  /** Whether it compresses: answers with gzip, and messages where that is offered. */
  compresses: boolean;
  /** How audio before the token ends a stream; undefined: it does not. */
  earlyAudioClose: readonly [code: number, reason: string] | undefined;
  /** Whether invalid requests that name a device count in its window. */
  countsInvalid: boolean;
  /** How long it takes for each answer, milliseconds. */
  delayMs: number;
  /** The names in its certificate; undefined: it speaks plain HTTP. */
  certificateFor: readonly string[] | undefined;
  /** Whether the stream has no TLS even where the tokens have. */
  plainStream: boolean;
  /** Answers in the place of everything else. */
  intercept(request: MiniRequest, response: ServerResponse): boolean;
  status(request: MiniRequest): number;
  headers(request: MiniRequest): Record<string, string>;
  claims(claims: Record<string, unknown>, request: MiniRequest): object;
  token(token: string, request: MiniRequest): unknown;
  body(token: unknown): unknown;
  problem(problem: MiniError | undefined, request: MiniRequest): MiniError | undefined;
  errorStatus: number;
  errorBody(error: MiniError): unknown;
  errorHeaders: Record<string, string>;
  /** Which window a request counts in. */
  windowOf(request: MiniRequest): string;
  windowMs: number;
  limit: number;
  statedLimit: number;
  remaining(left: number, request: MiniRequest): number;
  reset(atMs: number, nowMs: number): string;
  /** Undefined: the upgrade is accepted. */
  upgradeStatus: number | undefined;
  onOpen(socket: WebSocket): void;
  /** Why a token is not accepted; undefined where it is. */
  refusal(token: MiniToken | undefined, nowMs: number): string | undefined;
  connected(stream: MiniStream): void;
  onAudio(stream: MiniStream, pcm: Buffer): void;
  onText(stream: MiniStream, text: string): void;
  maxConnections: number;
  /** Whose connections count together. */
  slotOf(device: string): string;
  /** How long after the end of a stream its slot is free; undefined: never. */
  slotBackMs: number | undefined;
}

export interface MiniToken {
  device: string;
  path: string;
  expiresAt: number;
  used: boolean;
}

const fields = ['apiKey', 'deviceId'] as const;

/** The service as the specification has it. */
export const lawful: MiniBehaviour = {
  host: '127.0.0.1',
  isMovable: true,
  compresses: false,
  earlyAudioClose: undefined,
  countsInvalid: false,
  delayMs: 0,
  certificateFor: undefined,
  plainStream: false,
  intercept: () => false,
  status: () => 200,
  headers: () => ({
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, no-store, must-revalidate',
  }),
  claims: (claims) => claims,
  token: (token) => token,
  body: (token) => ({ token }),
  problem: (problem) => problem,
  errorStatus: 400,
  errorBody: (error) => ({ error }),
  errorHeaders: { 'Content-Type': 'application/json' },
  windowOf: ({ fields }) => String(fields.deviceId),
  windowMs: 60_000,
  limit: 60,
  statedLimit: 60,
  remaining: (left) => left,
  reset: (atMs) => String(Math.ceil(atMs / 1000)),
  upgradeStatus: undefined,
  onOpen: () => {},
  refusal: (token, nowMs) => {
    if (token === undefined) return 'unknown';
    if (token.used) return 'used';
    return nowMs < token.expiresAt ? undefined : 'expired';
  },
  connected: ({ say }) => say({ type: 'service_voice_connected' }),
  onAudio: ({ socket }, pcm) => socket.send(pcm),
  onText: ({ say }) => say({ type: 'error', error: { code: 'TEXT', message: 'no text' } }),
  maxConnections: 10,
  slotOf: (device) => device,
  slotBackMs: 0,
};

export interface MiniService extends AsyncDisposable {
  baseUrl: string;
  wsUrl: string;
  /** To be trusted, where it speaks TLS. */
  ca: string | undefined;
  /** Method and path of each request that arrived, in their order, those of the control API aside. */
  readonly arrived: readonly { method: string; path: string; body: string }[];
}

/**
 * A small service of nothing but `node:http` and `ws`, in the time of `hastyClock`, which can be moved as an emulator's can. What it
 * does otherwise than the specification says is in `change`.
 */
export async function startMiniService(change: Partial<MiniBehaviour> = {}): Promise<MiniService> {
  const does: MiniBehaviour = { ...lawful, ...change };
  const arrived: { method: string; path: string; body: string }[] = [];
  const tokens = new Map<string, MiniToken>();
  const windows = new Map<string, { endsAt: number; used: number }>();
  const slots = new Map<string, number>();
  const timers = new Set<{ due: number; call: () => void }>();
  let aheadMs = 0;
  const now = () => hastyClock.wall() + aheadMs;

  const { host, certificateFor, plainStream } = does;
  const certificate = certificateFor && (await createCertificate(certificateFor));
  const server = certificate ? createSecureServer(certificate, onRequest) : createServer(onRequest);
  const streams = plainStream ? createServer(onRequest) : server;

  async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url: path = '' } = request;
    if (path === '/__voicectl/clock' && does.isMovable) return control(body, response);
    arrived.push({ method, path, body });
    await pause();
    const isToken = /^\/api(\/v1)?\/websocket-voice\/token$/.test(path);
    if (path === '/voice-stream') return send(response, 426, {}, 'upgrade');
    if (!isToken) return send(response, 404, {}, 'not found');
    if (method !== 'POST') return send(response, 405, {}, 'not allowed');
    return grant(readRequest(path, request.headers, body), response);
  }

  function control(body: string, response: ServerResponse): void {
    const { advanceMs = 0 } = body === '' ? {} : (JSON.parse(body) as { advanceMs?: number });
    aheadMs += advanceMs;
    for (const timer of [...timers].sort((a, b) => a.due - b.due)) {
      if (timer.due > now()) continue;
      timers.delete(timer);
      timer.call();
    }
    const clock = { now: new Date(now()).toISOString(), aheadMs };
    send(response, 200, { 'Content-Type': 'application/json' }, JSON.stringify(clock));
  }

  function windowFor(request: MiniRequest): { endsAt: number; used: number } {
    const key = does.windowOf(request);
    const known = windows.get(key);
    if (known !== undefined && now() < known.endsAt) return known;
    const endsAt = now() + does.windowMs;
    // A window of another length that ends at a full minute could be one of the calendar.
    const isOdd = does.windowMs !== 60_000 && Math.ceil(endsAt / 1000) % 60 === 0;
    const window = { endsAt: isOdd ? endsAt + 1_000 : endsAt, used: 0 };
    windows.set(key, window);
    return window;
  }

  function grant(request: MiniRequest, response: ServerResponse): void {
    if (does.intercept(request, response)) return;
    const problem = does.problem(request.problem, request);
    if (problem !== undefined) {
      if (does.countsInvalid && typeof request.fields.deviceId === 'string') windowFor(request).used += 1;
      send(response, does.errorStatus, does.errorHeaders, JSON.stringify(does.errorBody(problem)));
      return;
    }
    const window = windowFor(request);
    if (window.used >= does.limit) {
      const error = { error: { code: 'LIMITED', message: 'too many' } };
      send(response, 429, { 'Content-Type': 'application/json' }, JSON.stringify(error));
      return;
    }
    window.used += 1;
    const iat = Math.floor(now() / 1000);
    const device = String(request.fields.deviceId);
    const claims = {
      sub: device,
      iat,
      exp: iat + 60,
      aud: 'voice-api',
      iss: 'mini',
      jti: randomBytes(6).toString('hex'),
    };
    const token = does.token(sign(does.claims(claims, request)), request);
    if (typeof token === 'string' && !tokens.has(token))
      tokens.set(token, { device, path: request.path, expiresAt: (iat + 60) * 1000, used: false });
    const headers = {
      'X-RateLimit-Limit': String(does.statedLimit),
      'X-RateLimit-Remaining': String(does.remaining(does.limit - window.used, request)),
      'X-RateLimit-Reset': does.reset(window.endsAt, now()),
      Date: new Date(now()).toUTCString(),
      ...does.headers(request),
    };
    const kept = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const answer = does.body(token);
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const coded = does.compresses ? { ...kept, 'Content-Encoding': 'gzip' } : kept;
    send(response, does.status(request), coded, does.compresses ? gzipSync(text) : text);
  }

  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: does.compresses });
  streams.on('upgrade', (request, socket, head) => {
    arrived.push({ method: 'UPGRADE', path: request.url ?? '', body: '' });
    if (does.upgradeStatus !== undefined) {
      socket.end(`HTTP/1.1 ${does.upgradeStatus} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    void pause().then(() => upgrades.handleUpgrade(request, socket, head, (peer) => receive(peer)));
  });

  /** By the service's time, which may be moved. Returns a function that cancels it. */
  function after(ms: number, call: () => void): () => void {
    const due = { due: now() + ms, call };
    timers.add(due);
    const timer = hastyClock.after(ms, () => timers.delete(due) && call());
    return () => {
      timer.cancel();
      timers.delete(due);
    };
  }

  function receive(socket: WebSocket): void {
    let stream: MiniStream | undefined;
    const cancelDeadline = after(5_000, () => socket.close(4408, 'no token'));
    socket.on('error', () => {});
    socket.on('close', () => {
      cancelDeadline();
      const { device } = stream ?? {};
      if (device === undefined || does.slotBackMs === undefined) return;
      if (does.slotBackMs === 0) count(device, -1);
      else after(does.slotBackMs, () => count(device, -1));
    });
    does.onOpen(socket);
    socket.on('message', async (data: Buffer, isBinary) => {
      if (stream !== undefined) {
        if (isBinary) does.onAudio(stream, data);
        else does.onText(stream, data.toString());
        return;
      }
      if (isBinary && does.earlyAudioClose !== undefined) socket.close(...does.earlyAudioClose);
      if (isBinary) return;
      cancelDeadline();
      const known = tokens.get(data.toString());
      await pause();
      const refusal = does.refusal(known, now());
      if (refusal !== undefined) {
        socket.close(4401, refusal);
        return;
      }
      const token = known ?? { device: 'unknown', path: '', expiresAt: 0, used: false };
      token.used = true;
      if (count(token.device, 1) > does.maxConnections) {
        count(token.device, -1);
        socket.close(4429, 'too many');
        return;
      }
      const say = (fields: object) => socket.send(JSON.stringify(fields));
      stream = { socket, device: token.device, token: data.toString(), say };
      does.connected(stream);
    });
  }

  function count(device: string, change: number): number {
    const key = does.slotOf(device);
    const next = (slots.get(key) ?? 0) + change;
    slots.set(key, next);
    return next;
  }

  async function pause(): Promise<void> {
    if (does.delayMs > 0) await new Promise<void>((resolve) => hastyClock.after(does.delayMs, resolve));
  }

  const servers = [...new Set([server, streams])];
  const [port, streamPort = port] = await Promise.all(servers.map((one) => listen(one, host)));
  return {
    baseUrl: `http${certificate ? 's' : ''}://${host}:${port}`,
    wsUrl: `ws${certificate && !plainStream ? 's' : ''}://${host}:${streamPort}`,
    ca: certificate?.cert,
    arrived,
    async [Symbol.asyncDispose]() {
      for (const client of upgrades.clients) client.terminate();
      const closed = servers.map((one) => new Promise((resolve) => one.close(resolve)));
      for (const one of servers) one.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

function readRequest(path: string, headers: IncomingMessage['headers'], body: string): MiniRequest {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body) as Record<string, unknown>;
  } catch {
    const problem = { code: 'INVALID_REQUEST', message: 'The body is not valid JSON' };
    return { path, headers, fields: {}, problem };
  }
  const field = fields.find((name) => typeof parsed[name] !== 'string' || parsed[name] === '');
  const problem =
    field === undefined
      ? undefined
      : {
          code: 'INVALID_REQUEST',
          message: `Missing required field: ${field}`,
          details: { field, expected: 'string' },
        };
  return { path, headers, fields: parsed, problem };
}

function sign(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', 'mini').update(signed).digest('base64url')}`;
}

function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer,
): void {
  response.writeHead(status, headers).end(body);
}

async function listen(server: Server, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

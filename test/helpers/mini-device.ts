import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { WebSocket } from 'ws';
import type { Device, StartDevice } from '../../src/conformance/drill/situation.ts';
import { type Clock, waitUntil } from '../../src/kernel/clock.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';
import { toneFrame } from './device-exchanges.ts';

/** What a device does at each point; a mutant is a device in which one of them is another. */
export interface MiniDevice {
  method: string;
  contentType: string;
  fields(fields: Record<string, string>): object;
  /** The first message. */
  present(token: string): { data: string | Buffer; binary: boolean };
  /** Whether the token of before is used for the next connection, after this close code. */
  keepsToken(closeCode: number): boolean;
  /** Whether it sends before the confirmation. */
  isHasty: boolean;
  frame(index: number): Buffer;
  everyMs: number;
  /** From an answer without a token to the next request; undefined: it connects without one. */
  retryMs(attempt: number, status: number, retryAfterMs: number): number | undefined;
  /** From the end of a connection, with this close code, to the next. */
  reconnectMs(attempt: number, closeCode: number): number;
  /** Without a pong for so long the connection is dead. */
  deadAfterMs: number;
  /** Without a confirmation for so long the connection is given up. */
  confirmWithinMs: number;
  /** What it does with a message; true: it closes the stream. */
  minds(data: Buffer, isBinary: boolean): boolean;
  /** How long it is silent after a message. */
  hushMs(data: Buffer, isBinary: boolean): number;
  end(socket: WebSocket): void;
  /** Ends a connection that is dead, or was never confirmed. */
  giveUp(socket: WebSocket, why: 'dead' | 'unconfirmed'): void;
  /** Answers a close frame, by a call of `close`. */
  answerClose(socket: WebSocket, close: () => void, clock: Clock): void;
  answersPings: boolean;
  /** Milliseconds that Retry-After asks to wait. */
  readRetryAfter(text: string, nowMs: number): number;
  followsRedirects: boolean;
  trustsAnybody: boolean;
}

const backoff = (attempt: number) => Math.min(30_000, 400 * 2 ** attempt);
const frameMs = 100;
/** A second: a tone, and then a pause, which takes a service less time to judge. */
const frames = Array.from({ length: 10 }, (_, index) =>
  index < 3
    ? Buffer.concat(Array.from({ length: 5 }, (_, part) => toneFrame(index * 5 + part)))
    : Buffer.alloc(bytesForMs(frameMs)),
);

/** A device that does everything right, in frames of 100 ms. */
export const lawfulDevice: MiniDevice = {
  method: 'POST',
  contentType: 'application/json',
  fields: (fields) => fields,
  present: (token) => ({ data: token, binary: false }),
  keepsToken: () => false,
  isHasty: false,
  frame: (index) => frames[index % frames.length] ?? Buffer.alloc(0),
  everyMs: frameMs,
  retryMs: (attempt, _status, retryAfterMs) => Math.max(backoff(attempt), retryAfterMs),
  reconnectMs: backoff,
  deadAfterMs: 4_000,
  confirmWithinMs: 4_000,
  minds: () => false,
  hushMs: () => 0,
  end: (socket) => socket.close(1000),
  giveUp: (socket) => socket.terminate(),
  answerClose: (_socket, close) => close(),
  answersPings: true,
  readRetryAfter: (text, nowMs) => (/^\d+$/.test(text) ? 1_000 * Number(text) : Date.parse(text) - nowMs),
  followsRedirects: false,
  trustsAnybody: false,
};

/** Starts such a device in this process, on a clock that can be moved. */
export function miniDevice(change: Partial<MiniDevice>, clock: Clock): StartDevice {
  const behaviour = { ...lawfulDevice, ...change };
  return async (address) => {
    const stopping = new AbortController();
    const sockets = new Set<WebSocket>();
    const running = run({ behaviour, clock, signal: stopping.signal, sockets, ...address }).catch(() => {});
    const device: Device = {
      ended: running.then(() => 0),
      stop() {
        stopping.abort();
        for (const socket of sockets) behaviour.end(socket);
      },
      async kill() {
        stopping.abort();
        for (const socket of sockets) socket.terminate();
        await running;
      },
      output: () => [],
    };
    return device;
  };
}

interface Run {
  behaviour: MiniDevice;
  clock: Clock;
  signal: AbortSignal;
  sockets: Set<WebSocket>;
  baseUrl: string;
  wsUrl: string;
  certificate: string | undefined;
}

async function run(options: Run): Promise<void> {
  const { behaviour, clock, signal } = options;
  let kept: string | undefined;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const asked =
      kept === undefined
        ? await askForToken(options, `${options.baseUrl}/api/websocket-voice/token`)
        : undefined;
    const token = kept ?? asked?.token;
    kept = undefined;
    let waitMs = 0;
    if (token === undefined) {
      const retryMs = behaviour.retryMs(attempt, asked?.status ?? 0, asked?.retryAfterMs ?? 0);
      if (retryMs === undefined) await converse(options, 'no-token');
      waitMs = retryMs ?? backoff(attempt);
    } else {
      const code = await converse(options, token);
      waitMs = behaviour.reconnectMs(attempt, code);
      if (behaviour.keepsToken(code)) kept = token;
    }
    await waitUntil(clock, clock.now() + waitMs, signal);
  }
}

interface Asked {
  token?: string;
  status: number;
  retryAfterMs: number;
}

function askForToken(options: Run, url: string): Promise<Asked> {
  const { behaviour, certificate, signal } = options;
  const { method, contentType, followsRedirects, trustsAnybody } = behaviour;
  const body = JSON.stringify(behaviour.fields({ apiKey: 'drill-key', deviceId: 'mini' }));
  const send = url.startsWith('https') ? httpsRequest : httpRequest;
  const trust = trustsAnybody ? { rejectUnauthorized: false } : { ca: certificate };
  return new Promise((resolve) => {
    const request = send(
      url,
      { method, headers: { 'Content-Type': contentType }, agent: false, signal, ...trust },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => {
          const { statusCode: status = 0, headers } = answer;
          if (followsRedirects && headers.location !== undefined) {
            resolve(askForToken(options, headers.location));
            return;
          }
          const token = status === 200 ? readToken(Buffer.concat(chunks).toString()) : undefined;
          const retryAfterMs = behaviour.readRetryAfter(headers['retry-after'] ?? '0', options.clock.wall());
          resolve({ status, retryAfterMs, ...(token === undefined ? {} : { token }) });
        });
      },
    );
    request.on('error', () => resolve({ status: 0, retryAfterMs: 0 }));
    request.end(method === 'GET' ? undefined : body);
  });
}

function readToken(body: string): string | undefined {
  try {
    return JSON.parse(body).token;
  } catch {
    return undefined;
  }
}

/** ws answers a close frame by a call of `close`, as the device does of its own. */
function answerAs({ answerClose }: MiniDevice, socket: WebSocket, clock: Clock): void {
  const close = socket.close.bind(socket);
  socket.close = (...given) => {
    const isAnswer = Reflect.get(socket, '_closeFrameReceived') === true;
    if (isAnswer) answerClose(socket, () => close(...given), clock);
    else close(...given);
  };
}

/** Resolves with the close code when the device is through with the connection. */
function converse({ behaviour, clock, sockets, wsUrl, certificate }: Run, token: string): Promise<number> {
  const trust = behaviour.trustsAnybody ? { rejectUnauthorized: false } : { ca: certificate };
  const socket = new WebSocket(`${wsUrl}/voice-stream`, {
    perMessageDeflate: false,
    autoPong: behaviour.answersPings,
    ...trust,
  });
  sockets.add(socket);
  answerAs(behaviour, socket, clock);
  let isConfirmed = false;
  let aliveAt = clock.now();
  let hushedUntil = 0;
  let sent = 0;
  let startedAt: number | undefined;
  return new Promise((resolve) => {
    const openedAt = clock.now();
    const speak = () => {
      startedAt ??= clock.now();
      while (startedAt + sent * behaviour.everyMs <= clock.now()) {
        if (clock.now() >= hushedUntil) socket.send(behaviour.frame(sent));
        sent += 1;
      }
    };
    const beat = () => {
      timer = clock.after(behaviour.everyMs / 2, beat);
      if (socket.readyState !== WebSocket.OPEN) return;
      const isDead = clock.now() - aliveAt > behaviour.deadAfterMs;
      const isLate = !isConfirmed && clock.now() - openedAt > behaviour.confirmWithinMs;
      if (isDead || isLate) {
        behaviour.giveUp(socket, isDead ? 'dead' : 'unconfirmed');
        done(1006);
        return;
      }
      if (Math.floor(clock.now() / 1_000) !== Math.floor((clock.now() - behaviour.everyMs / 2) / 1_000))
        socket.ping();
      if (isConfirmed || behaviour.isHasty) speak();
    };
    let timer = clock.after(behaviour.everyMs / 2, beat);
    const done = (code: number) => {
      timer.cancel();
      resolve(code);
    };
    socket.on('open', () => {
      const { data, binary } = behaviour.present(token);
      socket.send(data, { binary });
      if (behaviour.isHasty) speak();
    });
    socket.on('pong', () => {
      aliveAt = clock.now();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      aliveAt = clock.now();
      if (!isBinary && data.includes('service_voice_connected')) isConfirmed = true;
      hushedUntil = Math.max(hushedUntil, clock.now() + behaviour.hushMs(data, isBinary));
      if (behaviour.minds(data, isBinary)) socket.close(1003);
    });
    socket.on('error', () => {});
    socket.on('close', (code) => {
      sockets.delete(socket);
      done(code);
    });
  });
}

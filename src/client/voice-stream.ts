import type { IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import type { Clock, ClockTimer } from '../clock.ts';
import { VoicectlError } from '../errors.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { readServiceMessage, type ServiceMessage } from '../protocol/messages.ts';
import { serviceUrl, streamPath } from '../protocol/paths.ts';
import { connectionError } from './connection-error.ts';
import { closeError, upgradeError } from './refusal-error.ts';

/** How a stream ended. */
export interface StreamClose {
  code: number;
  reason: string;
}

export interface VoiceStreamOptions {
  wsUrl: string;
  clock: Clock;
  signal: AbortSignal;
  /** AI audio: any number of bytes, odd ones included. */
  onAudio: (pcm: Buffer) => void;
  /** A text message of the service. */
  onMessage: (message: ServiceMessage) => void;
}

export interface VoiceStream {
  /**
   * Sends the JWT as the first message and waits for `service_voice_connected`. Throws `VoicectlError`:
   * `stream-refused`, `too-many-connections`, `stream-broken`, `timed-out`.
   */
  present(token: string): Promise<void>;
  sendAudio(pcm: Buffer): void;
  /** Resolves once at most `bytes` wait in the socket. Throws `timed-out` where the peer takes nothing for 10 s. */
  drained(bytes: number): Promise<void>;
  /** Stops and resumes reading from the network, where the audio cannot be put away fast enough. */
  pause(): void;
  resume(): void;
  /** Closes with 1000, and waits for the peer's answer for at most 2 s. */
  close(): Promise<StreamClose>;
  /** Resolves when the stream has ended from either side. */
  readonly closed: Promise<StreamClose>;
  /** The error that a close means which we did not ask for; undefined for a normal close. */
  breakage(close: StreamClose): VoicectlError | undefined;
}

const maxMessageBytes = 16 * 1024 * 1024;
const handshakeTimeoutMs = 10_000;
const connectedTimeoutMs = 10_000;
const closeTimeoutMs = 2_000;
const stallTimeoutMs = 10_000;
const pingEveryMs = 15_000;

/**
 * Opens the voice stream. Specification: "WSS /voice-stream". No compression is offered and no redirect
 * followed. Throws `VoicectlError`: `connect-failed`, `tls-failed`, `handshake-failed`, `redirected`,
 * `stream-refused`, `too-many-connections`, or the signal's reason.
 */
export async function openVoiceStream(options: VoiceStreamOptions): Promise<VoiceStream> {
  const { wsUrl, clock, signal, onAudio, onMessage } = options;
  signal.throwIfAborted();
  const url = serviceUrl(wsUrl, streamPath);
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    followRedirects: false,
    handshakeTimeout: handshakeTimeoutMs,
  });
  let failure: VoicectlError | undefined;
  let lastError: ServiceMessage['error'];
  const closed = new Promise<StreamClose>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const cutOnAbort = () => socket.terminate();

  const listeners = new Set<(message: ServiceMessage) => void>([onMessage]);
  socket.on('message', (data: RawData, isBinary) => {
    if (isBinary) {
      onAudio(data as Buffer);
      return;
    }
    const message = readServiceMessage(data.toString());
    if (message.category === 'error') lastError = message.error;
    for (const listener of listeners) listener(message);
  });

  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('unexpected-response', (request, response: IncomingMessage) => {
      request.destroy();
      reject(upgradeError(response.statusCode ?? 0, url));
    });
    // Also after the handshake: a bad frame is an error here, and then a close.
    socket.on('error', (thrown) => {
      failure ??= protocolError(thrown);
      reject(handshakeError(thrown, new URL(url).host));
    });
    signal.addEventListener('abort', cutOnAbort, { once: true });
  }).catch((thrown) => {
    socket.terminate();
    throw signal.aborted ? signal.reason : thrown;
  });
  signal.removeEventListener('abort', cutOnAbort);

  const heartbeat = startHeartbeat(socket, clock, () => {
    failure ??= new VoicectlError('timed-out', 'The service has stopped answering pings');
    socket.terminate();
  });
  closed.then(() => heartbeat.stop());

  const breakage = (close: StreamClose) =>
    failure ?? (close.code === closeCodes.normal ? undefined : closeError(close, lastError, 'live'));

  return {
    closed,
    breakage,
    sendAudio: (pcm) => socket.send(pcm, { binary: true }),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    async present(token) {
      const connected = new Promise<void>((resolve) => {
        listeners.add((message) => {
          if (message.category === 'connected') resolve();
        });
      });
      socket.send(token);
      const ended = closed.then((close) => {
        throw failure ?? closeError(close, lastError, 'authorising');
      });
      // Handled also where the stream ends only later, when nobody waits here any more.
      ended.catch(() => {});
      await withDeadline(Promise.race([connected, ended]), {
        clock,
        ms: connectedTimeoutMs,
        what: 'The service did not confirm the connection',
      });
    },
    async drained(bytes) {
      while (socket.bufferedAmount > bytes && socket.readyState === WebSocket.OPEN) {
        const before = socket.bufferedAmount;
        await withDeadline(nextWrite(socket, closed), {
          clock,
          ms: stallTimeoutMs,
          what: `The service has taken none of ${before} bytes`,
        });
      }
    },
    async close() {
      if (socket.readyState === WebSocket.OPEN) socket.close(closeCodes.normal);
      const cut = clock.after(closeTimeoutMs, () => socket.terminate());
      const close = await closed;
      cut.cancel();
      return close;
    },
  };
}

/** Resolves when the socket has handed something to the system, or has closed. */
function nextWrite(socket: WebSocket, closed: Promise<StreamClose>): Promise<void> {
  const written = new Promise<void>((resolve) => {
    const stream = (socket as unknown as { _socket?: NodeJS.WritableStream })._socket;
    stream?.once('drain', () => resolve());
  });
  return Promise.race([written, closed.then(() => {})]);
}

interface Deadline {
  clock: Clock;
  ms: number;
  what: string;
}

async function withDeadline<T>(promise: Promise<T>, { clock, ms, what }: Deadline): Promise<T> {
  let timer: ClockTimer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(ms, () => reject(new VoicectlError('timed-out', `${what} within ${ms / 1000} s`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}

function startHeartbeat(socket: WebSocket, clock: Clock, onDead: () => void) {
  let pending = false;
  socket.on('pong', () => {
    pending = false;
  });
  const beat = () => {
    if (pending) {
      onDead();
      return;
    }
    pending = true;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
    timer = clock.after(pingEveryMs, beat, { background: true });
  };
  let timer = clock.after(pingEveryMs, beat, { background: true });
  return { stop: () => timer.cancel() };
}

function protocolError(thrown: Error): VoicectlError {
  return new VoicectlError(
    'protocol-violation',
    `The service broke the WebSocket protocol: ${thrown.message}`,
    {
      cause: thrown,
    },
  );
}

function handshakeError(thrown: Error, host: string): VoicectlError {
  const isSystem = 'code' in thrown || 'errors' in thrown;
  if (isSystem) return connectionError(thrown, host);
  return new VoicectlError('handshake-failed', `WebSocket handshake with ${host} failed: ${thrown.message}`, {
    retryable: true,
    cause: thrown,
  });
}

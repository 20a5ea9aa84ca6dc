import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import type { ReadError } from '../../protocol/error-body.ts';
import { readServiceMessage, type ServiceMessage } from '../../protocol/messages.ts';
import { serviceUrl, streamPath } from '../../protocol/paths.ts';
import { withDeadline } from './deadline.ts';
import { awaitUpgrade } from './handshake.ts';
import { startHeartbeat } from './heartbeat.ts';
import { closeError } from './refusal-error.ts';
import { trusting } from './trusting.ts';

/** How a stream ended. */
export interface StreamClose {
  code: number;
  reason: string;
}

export interface VoiceStreamOptions {
  wsUrl: string;
  /** PEM of what to trust in place of the built-in authorities. */
  ca?: string | undefined;
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
   * `stream-refused`, `too-many-connections`, `stream-broken`, `protocol-violation`, `timed-out`.
   */
  present(token: string): Promise<void>;
  sendAudio(pcm: Buffer): void;
  /** Resolves once at most `bytes` wait in the socket. Throws `timed-out` where the peer takes nothing for 10 s. */
  drained(bytes: number): Promise<void>;
  /** Stops and resumes reading from the network, where the audio cannot be put away fast enough. */
  pause(): void;
  resume(): void;
  /**
   * Closes with 1000, and waits for the peer's answer for at most 2 s. Audio that is still on its way is delivered,
   * unless reading is paused: then it is given up, so that the answer behind it can be read.
   */
  close(): Promise<StreamClose>;
  /** Resolves when the stream has ended from either side. */
  readonly closed: Promise<StreamClose>;
  /** The error that a close means which we did not ask for; undefined for one by which the service just ends the talk. */
  breakage(close: StreamClose): VoicectlError | undefined;
}

const connectedTimeoutMs = 10_000;
const stallTimeoutMs = 10_000;

/** No compression is offered and no redirect followed. */
const socketOptions = {
  perMessageDeflate: false,
  followRedirects: false,
  maxPayload: 16 * 1024 * 1024,
  // From the first close frame of either side on. Not in the types of ws.
  closeTimeout: 2_000,
};

/**
 * Opens the voice stream. Specification: "WSS /voice-stream". Throws `VoicectlError`: `connect-failed`,
 * `tls-failed`, `handshake-failed`, `redirected`, `stream-refused`, `too-many-connections`, `timed-out`, or the
 * signal's reason.
 */
export async function openVoiceStream(options: VoiceStreamOptions): Promise<VoiceStream> {
  const { wsUrl, ca, clock, signal, onAudio, onMessage } = options;
  signal.throwIfAborted();
  const url = serviceUrl(wsUrl, streamPath);
  const socket = new WebSocket(url, { ...socketOptions, ...trusting(ca) });
  const closed = new Promise<StreamClose>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  /** Why the stream cannot go on, where more is known than its close code. */
  let failure: VoicectlError | undefined;
  /** Set while the last thing that came from the service is an error. */
  let lastWord: ReadError | undefined;
  let isClosing = false;
  let isDeaf = false;
  let confirm = () => {};
  const confirmed = new Promise<void>((resolve) => {
    confirm = resolve;
  });

  // From the beginning: what comes in one packet with the answer to the upgrade is here before `open` is awaited.
  socket.on('message', (data: RawData, isBinary) => {
    if (isBinary) {
      lastWord = undefined;
      if (!isDeaf) onAudio(data as Buffer);
      return;
    }
    const message = readServiceMessage(data.toString());
    lastWord = message.error;
    if (message.category === 'connected') confirm();
    onMessage(message);
  });
  // Also after the handshake: a bad frame is an error here, and then a close.
  socket.on('error', (thrown) => {
    failure ??= protocolError(thrown);
  });
  await awaitUpgrade(socket, url, { clock, signal });

  const heartbeat = startHeartbeat(socket, clock, () => {
    failure ??= new VoicectlError('timed-out', 'The service has stopped answering pings');
    socket.terminate();
  });
  /** Those who wait for the system to take something. */
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resume of waiting) resume();
    waiting.clear();
  };
  void closed.then(() => {
    heartbeat.stop();
    wake();
  });

  return {
    closed,
    breakage(close) {
      if (failure !== undefined) return failure;
      const isPlainEnd = close.code === closeCodes.normal || close.code === closeCodes.noStatus;
      return isPlainEnd && lastWord === undefined ? undefined : closeError(close, lastWord, 'live');
    },
    async present(token) {
      socket.send(token);
      const ended = closed.then((close) => {
        throw failure ?? closeError(close, lastWord, 'authorising');
      });
      // Handled also where the stream ends only later, when nobody waits here any more.
      ended.catch(() => {});
      await withDeadline(Promise.race([confirmed, ended]), {
        clock,
        ms: connectedTimeoutMs,
        what: 'The service did not confirm the connection',
      });
    },
    sendAudio: (pcm) => socket.send(pcm, { binary: true }, wake),
    async drained(bytes) {
      while (socket.bufferedAmount > bytes && socket.readyState === WebSocket.OPEN) {
        const written = new Promise<void>((resolve) => waiting.add(resolve));
        await withDeadline(written, {
          clock,
          ms: stallTimeoutMs,
          what: `The service has taken none of ${socket.bufferedAmount} bytes`,
        });
      }
    },
    pause() {
      if (isClosing) isDeaf = true;
      else socket.pause();
    },
    resume() {
      heartbeat.beat();
      socket.resume();
    },
    close() {
      isClosing = true;
      isDeaf ||= socket.isPaused;
      socket.resume();
      if (socket.readyState === WebSocket.OPEN) socket.close(closeCodes.normal);
      return closed;
    },
  };
}

function protocolError(thrown: Error): VoicectlError {
  const text = `The service broke the WebSocket protocol: ${thrown.message}`;
  return new VoicectlError('protocol-violation', text, { cause: thrown });
}

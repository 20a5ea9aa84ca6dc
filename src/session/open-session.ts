import * as z from 'zod';
import { reframe } from '../audio/blocks.ts';
import { createPacer, type Pace } from '../audio/pacer.ts';
import { type Pcm, pcmBytes } from '../audio/whole-pcm.ts';
import { checkOptions, clockOption, objectOption } from '../files/check-options.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { abortable, createDeferred } from '../kernel/promises.ts';
import { queueCostBytes } from '../kernel/queue-cost.ts';
import { createRedactor } from '../kernel/redact.ts';
import { concealUrl } from '../kernel/secret-fields.ts';
import { bytesForMs, defaultFrameMs } from '../protocol/audio-format.ts';
import { isSafeTransport } from '../protocol/loopback.ts';
import type { ServiceMessage } from '../protocol/messages.ts';
import { type ApiVersion, apiVersions, wsUrlFor } from '../protocol/paths.ts';
import type { ServiceAuth } from '../wire/client/join-service.ts';
import type { StreamClose } from '../wire/client/refusal-error.ts';
import type { VoiceStream } from '../wire/client/voice-stream.ts';
import { createBackpressure, type QueueHandlers } from './output.ts';

/** Where to connect, and with which credential: a key to request a token, or a token. */
export type OpenSessionOptions = SessionTarget & ({ apiKey: string } | { token: string });

export interface SessionTarget {
  /** `https://…`, or `http://…` on this machine. */
  baseUrl: string;
  /** Default: the host of `baseUrl`. */
  wsUrl?: string;
  device: string;
  /** Default: the unversioned token path. */
  apiVersion?: ApiVersion;
  /** Further attempts for a token after a rate limit or a failed connection. Default 4. */
  retries?: number;
  /** PEM certificates to trust instead of the built-in authorities. */
  ca?: string | undefined;
  /** Allows sending the key or token to another machine over plain HTTP. */
  allowPlaintext?: boolean;
  /** Aborts the opening, or ends the open session. */
  signal?: AbortSignal;
  clock?: Clock;
}

/** An item from the service. */
export type ClientEvent =
  /** AI audio, 16 kHz s16le mono: any number of bytes, even an odd one. */
  | { type: 'audio'; pcm: Buffer }
  | ({ type: 'message' } & ServiceMessage)
  /** Always the last item. */
  | ({ type: 'close' } & StreamClose);

export interface SpeakOptions {
  /** 1 is real time, 2 is twice as fast; `max` is as fast as possible. Default 1. */
  pace?: Pace;
  /** Length of audio per message. Default 20. */
  frameMs?: number;
  /** Silence after the audio, so that the service hears the end of the turn. Default: none. */
  tailMs?: number;
  /** Stops within a frame; the session goes on. */
  signal?: AbortSignal;
}

/**
 * One conversation with a service. Iterate over it to receive items from the service. The iteration ends with the stream;
 * if the stream broke, it throws `VoicectlError` (`stream-broken`, `service-error`, `protocol-violation`, `timed-out`).
 * Items that you do not read are kept, up to 1 MiB; then reading from the network pauses.
 */
export interface ClientSession extends AsyncIterable<ClientEvent> {
  /** Sends one message of audio, once there is room for it. Throws if the session is over. */
  send(pcm: Pcm): Promise<void>;
  /** Sends audio in frames, at a pace. Resolves after the last frame; throws if the session ends earlier. */
  speak(pcm: Pcm, options?: SpeakOptions): Promise<void>;
  /** Closes with 1000. Audio that is still on its way can be read. Further calls do nothing. */
  close(): Promise<StreamClose>;
  /** Resolves when either side has ended the stream. */
  readonly closed: Promise<StreamClose>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Maximum bytes that wait in the socket before the sender waits. */
const maxBufferedBytes = 64 * 1024;

/**
 * Requests a token, connects, and resolves when the service has confirmed the connection. Throws `VoicectlError`: from the
 * token request (`auth-refused`, `rate-limited`, …), from the connection (`connect-failed`, `tls-failed`, …), for a refused
 * stream (`stream-refused`, `too-many-connections`), `insecure-target`, `usage`, or the signal's reason.
 */
export async function openSession(options: OpenSessionOptions): Promise<ClientSession> {
  requireSessionOptions(options);
  const { clock = systemClock, ca, signal = new AbortController().signal } = options;
  const wsUrl = options.wsUrl ?? wsUrlFor(options.baseUrl);
  if (!options.allowPlaintext) [options.baseUrl, wsUrl].forEach(requireSafeTransport);
  // Loaded here, so that a program that only runs an emulator does not load it.
  const { joinService } = await import('../wire/client/join-service.ts');
  const backpressure = createBackpressure(clock);
  const redactor = createRedactor();
  const inbox = createInbox(backpressure.queue(), eventBytes);
  const stream = await joinService({
    ...{ wsUrl, ca, clock, signal, redactor },
    baseUrl: options.baseUrl,
    device: options.device,
    auth: authOf(options),
    onOpen: backpressure.attach,
    onAudio: (pcm) => inbox.push({ type: 'audio', pcm }),
    onMessage: (message) => inbox.push({ type: 'message', ...message }),
  }).catch((error: unknown) => {
    throw nameOptions(error);
  });
  return startSession(stream, { inbox, clock, signal });
}

const sessionSchemas: Record<keyof SessionTarget | 'apiKey' | 'token', z.ZodType> = {
  baseUrl: z.string(),
  wsUrl: z.string(),
  device: z.string(),
  apiKey: z.string(),
  token: z.string(),
  apiVersion: z.enum(apiVersions),
  retries: z.int().min(0),
  ca: z.string(),
  allowPlaintext: z.boolean(),
  signal: objectOption,
  clock: clockOption,
};

function requireSessionOptions(options: OpenSessionOptions): void {
  const isObject = typeof options === 'object' && options !== null;
  const credential = isObject && 'token' in options ? 'token' : 'apiKey';
  const secrets = new Set(['apiKey', 'token']);
  const required = ['baseUrl', 'device', credential] as const;
  checkOptions(options, { of: 'openSession', schemas: sessionSchemas, required, secrets });
}

function authOf(options: OpenSessionOptions): ServiceAuth {
  if ('token' in options) return { token: options.token };
  return { apiKey: options.apiKey, apiVersion: options.apiVersion, retries: options.retries ?? 4 };
}

/** The flags of the command line that hints name, as options of `openSession`. */
const optionsOfFlags = [
  ['--base-url', 'baseUrl'],
  ['--ws-url', 'wsUrl'],
  ['--api-version', 'apiVersion'],
  ['--ca FILE', 'ca'],
] as const satisfies [flag: string, option: keyof SessionTarget][];

/** The error with a hint for a program, which has no command line. */
function nameOptions(error: unknown): unknown {
  if (!(error instanceof VoicectlError) || error.hint === undefined) return error;
  const { code, message, retryable, details, cause } = error;
  const hint = optionsOfFlags.reduce((text, [flag, option]) => text.replaceAll(flag, option), error.hint);
  return new VoicectlError(code, message, { hint, retryable, details, cause });
}

interface SessionParts {
  inbox: ReturnType<typeof createInbox<ClientEvent>>;
  clock: Clock;
  signal: AbortSignal;
}

function startSession(stream: VoiceStream, { inbox, clock, signal }: SessionParts): ClientSession {
  const over = new AbortController();
  let isClosing = false;
  const close = () => {
    isClosing = true;
    return stream.close();
  };
  const onAbort = () => void close();
  signal.addEventListener('abort', onAbort, { once: true });
  void stream.closed.then((end) => {
    signal.removeEventListener('abort', onAbort);
    const broken = isClosing ? undefined : stream.breakage(end);
    over.abort(broken ?? new VoicectlError('stream-broken', `The session is over (close ${end.code})`));
    inbox.push({ type: 'close', ...end });
    inbox.end(signal.aborted ? signal.reason : broken);
  });

  const send = async (pcm: Pcm, until = over.signal) => {
    const bytes = pcmBytes(pcm);
    until.throwIfAborted();
    await abortable(stream.drained(maxBufferedBytes), until);
    stream.sendAudio(bytes);
  };
  return {
    closed: stream.closed,
    send: (pcm) => send(pcm),
    async speak(pcm, options = {}) {
      checkOptions(options, { of: 'speak', schemas: speakSchemas });
      const { pace = 1, frameMs = defaultFrameMs, tailMs = 0, signal: stop } = options;
      const until = stop === undefined ? over.signal : AbortSignal.any([over.signal, stop]);
      const pacer = createPacer({ pace, frameMs, clock });
      for await (const frame of reframe(withTail(pcm, tailMs), bytesForMs(frameMs))) {
        await pacer.next(until);
        await send(frame, until);
      }
    },
    close,
    [Symbol.asyncIterator]: () => inbox.read(),
    async [Symbol.asyncDispose]() {
      await close();
    },
  };
}

/** A pace that is no number would send everything at once. */
const speakSchemas: Record<keyof SpeakOptions, z.ZodType> = {
  pace: z.union([z.literal('max'), z.number().positive()]),
  frameMs: z.number().refine((ms) => bytesForMs(ms) > 0, 'a number above 0'),
  tailMs: z.number().min(0),
  signal: objectOption,
};

async function* withTail(pcm: Pcm, tailMs: number): AsyncGenerator<Buffer> {
  yield pcmBytes(pcm);
  if (tailMs > 0) yield Buffer.alloc(bytesForMs(tailMs));
}

function requireSafeTransport(url: string): void {
  if (!URL.canParse(url)) throw new VoicectlError('usage', `Not a URL: ${concealUrl(url)}`);
  if (isSafeTransport(url)) return;
  const text = `Refusing to send a key or token to ${new URL(url).host} without TLS`;
  throw new VoicectlError('insecure-target', text, {
    hint: 'Use https and wss, or allowPlaintext on a trusted network.',
  });
}

/** Maximum bytes that wait for a reader: about half a minute of audio. Beyond it the source is asked to pause. */
const maxWaitingBytes = 1024 * 1024;

/** Carries what arrives to the loop that reads it, in order. If there are several loops, each item goes to one of them. */
interface Inbox<Item> {
  push(item: Item): void;
  /** Ends the loop after all waiting items. If there is a `failure`, the loop throws it. */
  end(failure?: unknown): void;
  /** After one loop stops, another can continue. */
  read(): AsyncGenerator<Item, void>;
}

/** How many bytes of the inbox an event fills. */
export function eventBytes(event: ClientEvent): number {
  if (event.type === 'audio') return event.pcm.length;
  return event.type === 'message' ? Buffer.byteLength(event.text) : 0;
}

export function createInbox<Item>(
  { onFull, onDrained }: QueueHandlers,
  bytesOf: (item: Item) => number,
): Inbox<Item> {
  const waiting: { item: Item; bytes: number }[] = [];
  let waitingBytes = 0;
  let ending: { failure: unknown } | undefined;
  let news = createDeferred();
  /** Every loop looks again. */
  const wake = () => {
    news.resolve();
    news = createDeferred();
  };
  return {
    push(item) {
      const weight = queueCostBytes(bytesOf(item));
      waiting.push({ item, bytes: weight });
      waitingBytes += weight;
      if (waitingBytes > maxWaitingBytes) onFull();
      wake();
    },
    end(failure) {
      ending ??= { failure };
      wake();
    },
    async *read() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          waitingBytes -= next.bytes;
          if (waitingBytes <= maxWaitingBytes) onDrained();
          yield next.item;
        } else if (ending === undefined) await news.promise;
        else if (ending.failure === undefined) return;
        else throw ending.failure;
      }
    },
  };
}

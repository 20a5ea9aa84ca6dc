import type { FoundInVoice } from '../audio/verdict/found-sounds.ts';
import type { VoiceVerdict } from '../audio/verdict/voice-check.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import type { CloseCause, RefusalCause } from '../protocol/dialect.ts';
import type { FaultName } from '../protocol/faults.ts';
import { roundMs } from '../protocol/time-text.ts';
import type { Addresses } from '../wire/addresses.ts';
import type { Side } from '../wire/exchange.ts';

/** What happens in an emulator, or in a proxy. Every view of `serve` and `proxy` is a function of this stream. */
export type EmulatorEventBody =
  /**
   * `lan`: the addresses for other machines, if it listens on all interfaces. `page`: only in the output of a command; the
   * service itself does not know the secret in it.
   */
  | { type: 'listening'; version: string; baseUrl: string; wsUrl: string; lan?: Addresses[]; page?: string }
  /** A connection that ended in its TLS handshake. */
  | { type: 'tls-failed'; remote: string; why: string }
  /** A TLS handshake that succeeded: the peer accepted the certificate. */
  | { type: 'tls-opened'; remote: string; protocol: string }
  /** `exp`: seconds since the epoch. `resetAtMs`: milliseconds since the epoch. `remaining`: requests left in the window. */
  | {
      type: 'token-issued';
      device: string;
      jti: string;
      exp: number;
      remaining: number;
      resetAtMs: number;
      /** From the request to the answer, in milliseconds. */
      ms?: number;
      sent?: SentHeaders;
    }
  | {
      type: 'request-refused';
      cause: RefusalCause | 'invalidRequest';
      status: number;
      code: string;
      message: string;
      device?: string;
      path?: string;
      /** Address of the device. */
      remote?: string;
      /** More detail than the device gets. */
      why?: string;
      sent?: SentHeaders;
      /** Number of refusals that this event stands for; omitted for one. */
      count?: number;
    }
  | { type: 'stream-opened'; stream: number; remote: string }
  /**
   * A token that is refused, or sent in the wrong way. `device`: the one that the token names, if it can
   * be read; `advice`: what to send instead.
   */
  | {
      type: 'token-problem';
      stream: number;
      remote: string;
      device?: string;
      /** The `jti` of the token, if it can be read. */
      jti?: string;
      cause: CloseCause;
      why: string;
      advice: string;
    }
  | { type: 'stream-authorised'; stream: number; device: string; jti: string; connections: number }
  /** `kind`: set if the usual fields of the body do not name it. */
  | { type: 'message-sent'; stream: number; device: string; body: unknown; kind?: string }
  /** `count`: number of texts that this event stands for, omitted for one; `bytes`: their total size. */
  | { type: 'text-received'; stream: number; device: string; bytes: number; count?: number }
  /** Times of turns are milliseconds of audio since the stream began. `agoMs`: how long before the event it was. */
  | { type: 'turn-started'; stream: number; device: string; atMs: number }
  | { type: 'turn-ended'; stream: number; device: string; atMs: number; turnMs: number; agoMs: number }
  | { type: 'reply-started'; stream: number; device: string; agoMs?: number }
  | { type: 'reply-failed'; stream: number; device: string; why: string }
  | { type: 'reply-ended'; stream: number; device: string; bargeIn: boolean }
  /** `id`: the number of the active fault. Without `stream`, the fault struck a request. */
  | {
      type: 'fault-struck';
      fault: FaultName;
      id: number;
      device?: string;
      stream?: number;
      sent?: SentHeaders;
    }
  /** Something wrong with the audio of a side; in a proxy also with the audio of the service. */
  | ({ type: VoiceEvent<'finding'>; stream: number; device: string } & FoundInVoice)
  /** More than `most` voices at once: how the others sound is not judged. Their format and pace are. Emitted once. */
  | { type: 'voices-unjudged'; most: number }
  /** How a side sends: emitted after two seconds of audio, and at each change. */
  | ({ type: VoiceEvent<'verdict'>; stream: number; device: string } & VoiceVerdict)
  /** `findings`: all kinds that were found in the audio of the device; `remarks`: advice for its developer. */
  | ({ type: 'stream-closed' } & Pick<VoiceVerdict, 'findings' | 'remarks'> & StreamTotals)
  /** What somebody did over the control API, the library or the screen. `byMs`: how far the clock was moved. */
  | { type: 'control'; what: string; streams?: number[]; byMs?: number }
  | Judgement
  /** The shared state cannot be reached. Live streams continue; tokens and new streams are refused. */
  | { type: 'shared-away'; why: string }
  | { type: 'shared-back'; awayMs: number }
  /** Something about the shared state that an operator should fix. */
  | { type: 'shared-warning'; why: string }
  /** A proxy can no longer record this stream. The stream continues. */
  | { type: 'recording-failed'; stream: number; why: string }
  /** A handler threw, and its connection ended. `calls`: the nearest stack frames. Without `stream`, it was a request. */
  | { type: 'bug'; stream?: number; path?: string; remote?: string; why: string; calls: string[] }
  | { type: 'stopping' };

type VoiceEvent<What extends string> = `${Side}-${What}`;

/**
 * What a proxy finds about one side: a broken rule of the service (R1…) or of a device (D1…), or something unusual (a
 * remark). Emitted once for each stream and rule.
 */
export interface Judgement {
  type: 'violation' | 'remark';
  /** The side that it is reported against. */
  from: Side;
  rule: string;
  /** The rule, in short. */
  message: string;
  /** The observation. */
  value: string;
  /** How often it was seen so far. */
  count: number;
  device?: string;
  stream?: number;
}

/** Headers of a token request. With the times of the events they show how a device asks and retries. */
export interface SentHeaders {
  contentType?: string;
  accept?: string;
  userAgent?: string;
}

/** What passed on a stream, and how it ended. `framesIn`: binary messages that are not empty. */
export interface StreamTotals {
  stream: number;
  /** Undefined if the stream closed before it was authorised. */
  device: string | undefined;
  jti: string | undefined;
  /** The code that the peer closed or answered with; of this side if it did not read the answer. */
  code: number;
  reason: string;
  /** The code that this side closed with, if it sent one. */
  sentCode?: number;
  /** Why the emulator closed or cut the stream, if it did. */
  cause?: CloseCause | 'half-open' | 'protocol-error' | 'control' | 'fault' | 'reply' | 'bug';
  /** More about the cause, if known. */
  why?: string;
  durationMs: number;
  framesIn: number;
  bytesIn: number;
  framesOut: number;
  bytesOut: number;
  /** Messages that ended within a sample, and empty messages. */
  oddMessages: number;
  emptyMessages: number;
  /** Bytes of audio that came after this side's close, if any did. */
  bytesAfterClose?: number;
  /** Of a proxy: messages besides audio that were passed on unjudged, because there are too many or they are too long. */
  unjudged?: number;
}

/**
 * `t`: milliseconds since the emulator started, on its clock. `level`: something that a developer should look at. `instance`:
 * the emulator, if several are one service.
 */
export type EmulatorEvent = {
  t: number;
  level?: 'warning';
  instance?: string;
  /** The former name of `from`, for readers that know only it. */
  side?: Side;
} & FromSide &
  EmulatorEventBody;

/** In a proxy: the side that an event comes from, or is about. Missing if it is about the proxy itself. */
interface FromSide {
  from?: Side;
}

export type EmulatorListener = (event: EmulatorEvent) => void;

export interface EmulatorEvents {
  /** False if the event was only counted: a later event gives the number. */
  emit(body: EmulatorEventBody & FromSide): boolean;
  /** Calls the listener for each event from now on. Call the result to stop. */
  subscribe(listener: EmulatorListener): () => void;
  /** A text without the accepted keys, which no event has: for a text that is cut, because a part of a key is not found. */
  redact(text: string): string;
}

/** Events are delivered at once and in order; nothing is queued. */
export function createEmulatorEvents(now: () => number, instance?: () => string): EmulatorEvents {
  const start = now();
  const listeners = new Set<EmulatorListener>();
  return {
    emit(body) {
      const t = roundMs(now() - start);
      const named = instance === undefined ? undefined : { instance: instance() };
      const facts = body.from === undefined ? body : { ...body, side: body.from };
      // Errors too: readers of the journal filter by this value.
      const event: EmulatorEvent =
        levelOfEvent(body) === 'info'
          ? { t, ...named, ...facts }
          : { t, level: 'warning', ...named, ...facts };
      for (const listener of listeners) listener(event);
      return true;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    redact: (text) => text,
  };
}

export type EventLevel = 'info' | 'warning' | 'error';

/** Every type of event, and whether a developer should look at it. Verdicts and ends depend on their content. */
const levels: Readonly<Record<EmulatorEventBody['type'], EventLevel>> = {
  listening: 'info',
  'tls-failed': 'warning',
  'tls-opened': 'info',
  'token-issued': 'info',
  'request-refused': 'warning',
  'stream-opened': 'info',
  'token-problem': 'warning',
  'stream-authorised': 'info',
  'message-sent': 'info',
  'text-received': 'warning',
  'turn-started': 'info',
  'turn-ended': 'info',
  'reply-started': 'info',
  'reply-failed': 'error',
  'reply-ended': 'info',
  'fault-struck': 'warning',
  'device-finding': 'warning',
  'service-finding': 'warning',
  'voices-unjudged': 'warning',
  'device-verdict': 'info',
  'service-verdict': 'info',
  'stream-closed': 'info',
  control: 'info',
  violation: 'error',
  remark: 'warning',
  'shared-away': 'error',
  'shared-back': 'info',
  'shared-warning': 'warning',
  'recording-failed': 'warning',
  bug: 'error',
  stopping: 'info',
};
export const emulatorEventTypes: readonly string[] = Object.keys(levels);

/** The causes with which a healthy stream ends. */
const ordinaryEnds: ReadonlySet<StreamTotals['cause']> = new Set([
  'control',
  'fault',
  'reply',
  'shutdown',
  'sessionTooLong',
]);

/** How serious an event is. Types that this version does not know are `info`. */
export function levelOfEvent(body: EmulatorEventBody): EventLevel {
  if (body.type === 'device-verdict' || body.type === 'service-verdict')
    return body.remarks.length > 0 ? 'warning' : 'info';
  if (body.type === 'stream-closed') return isGoodEnd(body) ? 'info' : 'warning';
  return levels[body.type] ?? 'info';
}

/** A stream that this side ended on purpose, or the other one normally (1000) or by going away (1001). */
function isGoodEnd({ cause, code, sentCode, bytesAfterClose }: StreamTotals): boolean {
  const isUnanswered = sentCode !== undefined && code === closeCodes.abnormal;
  if (isUnanswered || bytesAfterClose !== undefined) return false;
  return cause === undefined ? code <= closeCodes.goingAway : ordinaryEnds.has(cause);
}

/** A warning about a stream. `broken`: the rule that it broke, as a verdict. */
interface EventNotice {
  code: string;
  message: string;
  side?: Side;
  broken?: { name: string; ok: false; expected: string; measured: string };
}

/** What an event says about its stream, besides the traffic itself: for a recording. */
export function noticeOf(event: EmulatorEvent): EventNotice | undefined {
  switch (event.type) {
    case 'device-finding':
    case 'service-finding':
      return { code: event.finding, message: event.remark, ...(event.from && { side: event.from }) };
    case 'fault-struck':
      return { code: event.fault, message: `fault ${event.fault}` };
    case 'reply-failed':
      return { code: event.type, message: event.why };
    case 'violation':
    case 'remark': {
      const { from: side, rule, message, value } = event;
      const warning = { code: rule, message: `${side}: ${message}: ${value}`, side };
      const name = `${side} ${rule}`;
      return event.type === 'remark'
        ? warning
        : { ...warning, broken: { name, ok: false, expected: message, measured: value } };
    }
    default:
      return undefined;
  }
}

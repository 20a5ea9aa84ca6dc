import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import { createRedactor, type Redactor } from '../../kernel/redact.ts';
import type { SecretIndex } from '../../kernel/secret-index.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import { holdsBinaryToken, tokenPlace } from '../../protocol/first-message.ts';
import { concealRequest, concealText } from '../../wire/conceal.ts';
import type { Side, StreamEnd, Upgrade } from '../../wire/exchange.ts';
import { headerPairs } from '../../wire/headers.ts';
import { receiverOf, violationCode, violationOf } from '../../wire/server/unfinished.ts';
import type { Tap } from '../../wire/tap.ts';
import { readPresented } from '../../wire/token-facts.ts';

/** An upgrade that succeeded. */
export interface Upgraded {
  request: IncomingMessage;
  /** Lines of the answer, as ws writes them: `Name: value`. */
  answerLines: readonly string[];
}

/** How this side has ended the stream: with this close, or without one (`{}`). Undefined: it has not. */
export type OurEnd = () => Partial<SentClose> | undefined;

/** A close frame that this side sent; 1005: without a code. */
export interface SentClose {
  code: number;
  reason: string;
}

export interface TapStreamOptions {
  tap: Tap;
  /** Undefined if the stream was open before this observer was added. */
  upgraded: Upgraded | undefined;
  socket: WebSocket;
  clock: Clock;
  ourEnd: OurEnd;
  /** Finds the accepted keys in a text. */
  keys: Pick<SecretIndex, 'find'>;
  /** The token, if it was sent before this observer was added. */
  token?: string | undefined;
}

/** Receives a copy of what the service sends on a stream. */
export interface SentWatch {
  text(text: string): void;
  audio(pcm: Buffer): void;
  ping(): void;
  /** Stops observing. */
  stop(): void;
}

/** Several observers as one; undefined if there are none. */
export function joinWatches(watches: readonly SentWatch[]): SentWatch | undefined {
  const [first, ...others] = watches;
  if (first === undefined || others.length === 0) return first;
  const each = (call: (watch: SentWatch) => void) => watches.forEach(call);
  return {
    text: (text) => each((watch) => watch.text(text)),
    audio: (pcm) => each((watch) => watch.audio(pcm)),
    ping: () => each((watch) => watch.ping()),
    stop: () => each((watch) => watch.stop()),
  };
}

/** Passes a stream to a tap, as the service sees it, without the token or an accepted key in any message. */
export function tapStream(options: TapStreamOptions): SentWatch {
  const { tap, socket, clock, ourEnd, token } = options;
  const redactor = createRedactor(options.keys);
  if (token !== undefined) redactor.conceal(token);
  let presented = token !== undefined;
  let breakdown: StreamEnd['breakdown'];
  /** The code with which ws ended the stream because of what it received. */
  let closedWith: number | undefined;
  /** When the device closed, or answered the close: it may leave the connection open. */
  let endedAt: number | undefined;
  const concluded = () => {
    endedAt ??= clock.now();
  };
  const binary = (from: Side, data: Buffer) =>
    tap.message?.({ at: clock.now(), from, opcode: 'binary', data, bytes: data.length });
  const text = (from: Side, written: string) =>
    tap.message?.({
      ...{ at: clock.now(), from, opcode: 'text', bytes: Buffer.byteLength(written) },
      text: concealText(written, redactor),
    });
  const control = (from: Side, opcode: 'ping' | 'pong', { length: bytes }: { length: number }) =>
    tap.message?.({ at: clock.now(), from, opcode, bytes });
  const present = (first: string, isBinary: boolean) => {
    presented = true;
    tap.message?.({ at: clock.now(), from: 'device', ...readPresented(first, isBinary, redactor) });
  };
  if (options.upgraded !== undefined) tap.opened?.(upgradeOf(options.upgraded, clock, redactor));
  const listeners = {
    message: (data: RawData, isBinary: boolean) => {
      const message = data as Buffer;
      if (!presented && (!isBinary || holdsBinaryToken(message))) present(message.toString(), isBinary);
      else if (isBinary) binary('device', message);
      else text('device', message.toString());
    },
    ping: (data: Buffer) => {
      control('device', 'ping', data);
      control('service', 'pong', data);
    },
    pong: (data: Buffer) => control('device', 'pong', data),
    error: (thrown: NodeJS.ErrnoException) => {
      concluded();
      closedWith ??= violationCode(thrown);
      breakdown ??= { by: 'device', code: 'protocol-violation', message: violationOf(socket, thrown) };
    },
    close(code: number, reason: Buffer) {
      const received = { code, reason: redactor.text(reason.toString()) };
      const ours = breakdown === undefined ? ourEnd() : undefined;
      if (code === closeCodes.abnormal && closedWith !== undefined) received.code = closedWith;
      const how = ours === undefined ? received : closedBy(ours, received);
      tap.closed?.({
        at: endedAt ?? clock.now(),
        by: ours === undefined ? 'device' : 'service',
        ...how,
        breakdown,
      });
    },
  };
  for (const [name, listener] of Object.entries(listeners)) socket.on(name, listener);
  const receiver = receiverOf(socket);
  receiver.on('conclude', concluded);
  return {
    text: (told) => text('service', told),
    audio: (pcm) => binary('service', pcm),
    ping: () => control('service', 'ping', { length: 0 }),
    stop() {
      for (const [name, listener] of Object.entries(listeners)) socket.off(name, listener);
      receiver.off('conclude', concluded);
    },
  };
}

/** How a stream ended that this side closed: ws reports only what the device did. */
function closedBy(
  ours: Partial<SentClose>,
  received: SentClose,
): Pick<StreamEnd, keyof SentClose | 'answer'> {
  const { code, reason = '' } = ours;
  if (code === undefined || received.code === closeCodes.abnormal) return received;
  return { code, reason, ...(received.code === code ? {} : { answer: received }) };
}

function upgradeOf({ request, answerLines }: Upgraded, clock: Clock, redactor: Redactor): Upgrade {
  const { method = '', url = '', rawHeaders } = request;
  const tokenIn = tokenPlace(url, request.headers);
  const [, ...lines] = answerLines;
  const headers = lines.map(
    (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const,
  );
  return {
    at: clock.now(),
    wallAt: clock.wall(),
    request: concealRequest({ method, url, headers: headerPairs(rawHeaders), body: '' }, redactor),
    answer: { status: 101, headers, body: '', firstByteMs: 0 },
    breakdown: undefined,
    totalMs: 0,
    ...(tokenIn === undefined ? {} : { tokenIn }),
  };
}

import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Clock } from '../kernel/clock.ts';
import { isError, messageOf } from '../kernel/errors.ts';
import { shortText } from '../kernel/short-text.ts';
import { closeCodeName, closeCodes } from '../protocol/close-codes.ts';
import { plainAddress } from '../wire/addresses.ts';
import { concealTokens } from '../wire/conceal.ts';
import type { Tap } from '../wire/tap.ts';
import { eventPath } from './event-path.ts';
import type { EmulatorEventBody, EmulatorEvents } from './events.ts';

/** Stack frames that are reported: those nearest to the error. */
const maxCalls = 4;

type Bug = Extract<EmulatorEventBody, { type: 'bug' }>;

/** What a handler of one connection threw, as an event. The message may contain text of a peer: it has no keys and tokens, and is short. */
export function bugOf(
  thrown: unknown,
  about: Pick<Bug, 'stream' | 'path' | 'remote'>,
  { redact }: Pick<EmulatorEvents, 'redact'>,
): Bug {
  const { name, stack = '' } = isError(thrown) ? thrown : { name: 'Thrown' };
  const calls = stack.split('\n').flatMap((line) => /^ {4}at (.{1,300})/.exec(line)?.[1] ?? []);
  return {
    type: 'bug',
    ...about,
    why: `${name}: ${shortText(concealTokens(redact(messageOf(thrown))))}`,
    calls: calls.slice(0, maxCalls),
  };
}

/** Runs code of one connection. What it throws goes to `onThrown`, and disturbs no other connection. */
export function runGuarded(call: () => void, onThrown: (thrown: unknown) => void): void {
  try {
    call();
  } catch (thrown) {
    onThrown(thrown);
  }
}

/** The clock for one connection: what its timers throw ends that connection. */
export function guardClock(clock: Clock, onThrown: (thrown: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    wall: () => clock.wall(),
    after: (delayMs, call, options) => clock.after(delayMs, () => runGuarded(call, onThrown), options),
  };
}

/** A tap that a page gives to a stream: what it throws ends that stream, whether it sends, receives or ends. */
export function guardTap(tap: Tap, onThrown: (thrown: unknown) => void): Tap {
  return {
    opened: (upgrade) => runGuarded(() => tap.opened?.(upgrade), onThrown),
    message: (message) => runGuarded(() => tap.message?.(message), onThrown),
    closed: (end) => runGuarded(() => tap.closed?.(end), onThrown),
  };
}

/** A socket of one stream: what a listener of it throws ends that stream. */
export class GuardedSocket extends WebSocket {
  /** Undefined: errors go to whoever made the socket. */
  onThrown: ((thrown: unknown) => void) | undefined;

  // The events of ws have at most two arguments, and every message passes here.
  override emit(event: string | symbol, first?: unknown, second?: unknown): boolean {
    const { onThrown } = this;
    if (event === 'close' && onThrown !== undefined) {
      // The others must still learn that it is over.
      for (const listener of this.rawListeners(event)) {
        runGuarded(() => listener.call(this, first, second), onThrown);
      }
      return true;
    }
    try {
      return super.emit(event, first, second);
    } catch (thrown) {
      if (onThrown === undefined) throw thrown;
      onThrown(thrown);
      return true;
    }
  }
}

/** Closes a stream whose handler threw: with `close`, and cuts the sockets that are still open after that. */
export function closeAfterBug(
  sockets: readonly GuardedSocket[],
  close: (code: number, reason: string) => void,
): void {
  const cut = () => {
    for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.terminate();
  };
  runGuarded(() => close(closeCodes.internalError, closeCodeName(closeCodes.internalError)), cut);
  cut();
}

/** Where a request or an upgrade came from, and for what. */
export function aboutRequest(
  { url = '', socket }: IncomingMessage,
  events: Pick<EmulatorEvents, 'redact'>,
): { path: string; remote: string } {
  return { path: eventPath(url.split('?', 1)[0] ?? '', events), remote: plainAddress(socket.remoteAddress) };
}

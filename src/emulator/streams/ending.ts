import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import { closeCodes, streamCloseMs } from '../../protocol/close-codes.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import type { StreamTotals } from '../../service/events.ts';
import { checkClose, endTransport } from '../../service/streams/open-stream.ts';
import type { BatchedSocket } from '../../wire/server/batched-socket.ts';
import { Line } from '../../wire/server/network/line.ts';
import type { SentClose } from './tap-stream.ts';

/** Ends a connection once, and notes the cause in its totals. */
export interface Ending {
  /** Whether this side is closing it, or it has ended. */
  readonly ended: boolean;
  /** The close that this side sent. */
  readonly sent: SentClose | undefined;
  /** When it has left for the device; through a simulated network: when it has passed that. */
  readonly reachedAt: number | undefined;
  /** The connection ends now: calls the listeners. Only the first call counts. */
  begin(): void;
  /** Calls the listener once, when either side begins to close; at once if that has happened. */
  onEnding(call: () => void): void;
  close(cause: CloseCause, why?: string): void;
  closeWith(code: number, reason: string, cause: StreamTotals['cause'] & string): void;
  cut(how: 'end' | 'reset', cause: StreamTotals['cause'] & string): void;
}

export interface EndingOptions {
  socket: WebSocket;
  transport: Socket;
  batched: BatchedSocket;
  /** The clock of the machine. */
  clock: Clock;
  dialect: Dialect;
  totals: StreamTotals;
  /** Sends the error message that goes before a close. */
  sendError: (code: string, message: string) => void;
}

export function createEnding(options: EndingOptions): Ending {
  const { socket, transport, batched, clock, totals } = options;
  const { closes, errorBeforeClose, explainRefusals } = options.dialect.stream;
  const endings: (() => void)[] = [];
  let ended = false;
  let reachedAt: number | undefined;
  let sent: SentClose | undefined;

  const begin = () => {
    if (ended) return;
    ended = true;
    for (const call of endings.splice(0)) call();
  };
  const sendClose = (code: number, reason: string) => {
    // An emulator that stops does not wait for a slow network, and so cannot know what a device would have answered.
    const isSlow = transport instanceof Line;
    const waits = isSlow && totals.cause !== 'shutdown';
    if (waits) allowForNetwork(socket, transport);
    totals.sentCode = code;
    sent = { code, reason };
    if (code === closeCodes.noStatus) socket.close();
    else socket.close(code, reason);
    const reach = () => {
      reachedAt = clock.now();
    };
    if (waits) transport.whenReached(reach);
    else if (!isSlow) reach();
  };
  const finish = (code: number, reason: string) => {
    if (code !== closeCodes.abnormal) sendClose(code, reason);
    else {
      batched.release();
      endTransport(socket, transport, clock);
    }
  };
  const cut: Ending['cut'] = (how, cause) => {
    if (ended) return;
    begin();
    totals.cause = cause;
    // Messages sent before the cut are on their way.
    batched.release();
    if (how === 'reset') transport.resetAndDestroy();
    else socket.terminate();
  };
  return {
    get ended() {
      return ended;
    },
    get sent() {
      return sent;
    },
    get reachedAt() {
      return reachedAt;
    },
    begin,
    cut,
    onEnding(call) {
      if (ended) call();
      else endings.push(call);
    },
    close(cause, why) {
      if (ended) return;
      begin();
      totals.cause = cause;
      if (why !== undefined) totals.why = why;
      const { close: code, reason, code: errorCode, message } = closes[cause];
      if (errorBeforeClose) options.sendError(errorCode, explainRefusals ? (why ?? message) : message);
      finish(code, reason);
    },
    closeWith(code, reason, cause) {
      checkClose(code, reason);
      if (ended) return;
      begin();
      totals.cause = cause;
      finish(code, reason);
    },
  };
}

/** The longest addition to the time in which a device may answer a close. */
const longestRoundTripMs = 10_000;

/** Lets a close and its answer pass a simulated network. */
function allowForNetwork(socket: WebSocket, line: Line): void {
  // Not in the types of ws.
  Object.assign(socket, { _closeTimeout: streamCloseMs + Math.min(longestRoundTripMs, line.roundTripMs) });
}

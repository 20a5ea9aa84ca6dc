import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { DeviceCheck } from '../../audio/verdict/device-verdict.ts';
import type { LostTime } from '../../audio/verdict/pace-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { closeCodes, isSendableCloseCode, maxCloseReasonBytes } from '../../protocol/close-codes.ts';
import type { TemplateValues } from '../../protocol/dialect/templates.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import { writeError } from '../../protocol/messages.ts';
import { BatchedSocket } from '../../wire/server/batched-socket.ts';
import type { EmulatorEvents, StreamTotals } from '../events.ts';
import type { Random } from '../random.ts';
import { AudioOut } from './audio-out.ts';
import { createMessageValues } from './message-values.ts';
import { joinWatches, type SentWatch } from './tap-stream.ts';

/** One WebSocket connection: it sends, ends and counts. */
export interface Connection {
  readonly id: number;
  readonly socket: WebSocket;
  /** Address of the peer. */
  readonly remote: string;
  /** Where the upgrade request has a token, if it has one. The service does not look for it there. */
  readonly tokenElsewhere: string | undefined;
  /** Values for the templates of its messages. */
  readonly values: TemplateValues;
  /** Counted so far; `durationMs`, `code` and `reason` once it has closed. */
  readonly totals: StreamTotals;
  /** How long it has been open, by the machine's clock: moving the emulator's clock does not change it. */
  durationMs(): number;
  /** Judges what the device sends. */
  readonly device: DeviceCheck;
  /** Sends audio, until the connection closes. */
  readonly audio: AudioOut;
  /** Whether this side is closing it, or it has ended. */
  readonly ended: boolean;
  /** Level of the newest audio of each direction, in dBFS: from the device, and to it. */
  levels(): { inDbfs: number; outDbfs: number };
  sendText(text: string): void;
  /**
   * Sends the error message that goes before this close (dialect), then the close. `why`: more about the cause, for the
   * journal, and for the client if the dialect says so. Only the first call counts.
   */
  close(cause: CloseCause, why?: string): void;
  /**
   * Closes with this code, without an error message; 1005 means no code, 1006 no close frame.
   * Only the first call counts. Throws `usage` if the code or the reason cannot be sent.
   */
  closeWith(code: number, reason: string, cause?: 'control' | 'fault' | 'reply'): void;
  /** Sends text unchanged, even if it is not a valid message. */
  sendRaw(text: string): void;
  /** Ends the connection without a close frame: with FIN, or with a reset. */
  cut(how: 'end' | 'reset'): void;
  /** Holds all output for so long, then sends it. Pauses the heartbeat meanwhile. */
  stall(ms: number): void;
  /** Reads nothing more. */
  stopReading(): void;
  /** Stops reading, sending and heartbeats; the connection stays until the peer ends it. */
  freeze(): void;
  /** Pings the peer; if the previous ping was not answered, cuts the connection without a close frame. */
  probe(): void;
  /** Calls the listener once, when either side begins to close. */
  onEnding(call: () => void): void;
  /** Adds an observer. Call the result to take it away. */
  observe(watch: MakeWatch): () => void;
}

/** Makes an observer of a stream; `isOurEnd` tells whether this side has ended it. */
export type MakeWatch = (isOurEnd: () => boolean) => SentWatch;

export interface ConnectionOptions {
  id: number;
  socket: WebSocket;
  remote: string;
  tokenElsewhere: string | undefined;
  random: Pick<Random, 'id'>;
  /** The socket under the WebSocket. */
  transport: Socket;
  /** Times of binary messages by their length. */
  headerOf: (length: number) => Buffer;
  /** Movable. */
  clock: Clock;
  /** The machine's: audio is heard when it arrives. */
  baseClock: Clock;
  /** Time in which the emulator did not run. */
  own: LostTime;
  dialect: Dialect;
  events: EmulatorEvents;
  /** Makes an observer of the stream. */
  watch?: MakeWatch | undefined;
}

export function createConnection(options: ConnectionOptions): Connection {
  const {
    id,
    socket,
    remote,
    tokenElsewhere,
    random,
    transport,
    headerOf,
    clock,
    baseClock,
    dialect,
    events,
  } = options;
  const startedAt = baseClock.now();
  const durationMs = () => Math.round(baseClock.now() - startedAt);
  const endings: (() => void)[] = [];
  const device = new DeviceCheck(baseClock, options.own);
  const batched = new BatchedSocket(transport);
  let ended = false;
  let pingPending = false;
  let frozen = false;
  let stalls = 0;
  let violation = '';
  const totals: StreamTotals = {
    stream: id,
    device: undefined,
    jti: undefined,
    code: 0,
    reason: '',
    durationMs: 0,
    framesIn: 0,
    bytesIn: 0,
    framesOut: 0,
    bytesOut: 0,
    oddMessages: 0,
    emptyMessages: 0,
  };

  const isOurEnd = () => totals.cause !== undefined;
  const observers: SentWatch[] = options.watch === undefined ? [] : [options.watch(isOurEnd)];
  let watch = joinWatches(observers);
  const say = (text: string) => {
    socket.send(text);
    watch?.text(text);
  };
  const values = createMessageValues({ stream: id, totals, random, clock });

  const end = () => {
    if (ended) return;
    ended = true;
    audio.shut();
    for (const call of endings.splice(0)) call();
  };

  const sendClose = (code: number, reason: string) => {
    if (code === closeCodes.noStatus) {
      socket.close();
      return;
    }
    totals.sentCode = code;
    socket.close(code, reason);
  };

  const close = (cause: CloseCause, why?: string) => {
    if (ended) return;
    end();
    totals.cause = cause;
    if (why !== undefined) totals.why = why;
    const { close: code, reason, code: errorCode, message } = dialect.stream.closes[cause];
    if (dialect.stream.errorBeforeClose) {
      say(
        writeError(dialect, errorCode, dialect.stream.explainRefusals ? (why ?? message) : message, values),
      );
    }
    if (code === closeCodes.abnormal) endTransport(socket, transport, baseClock);
    else sendClose(code, reason);
  };

  const giveUp = () => {
    close('slowReader');
    // Later messages are useless. Unread, they cost nothing until the connection is cut.
    socket.pause();
  };
  const audio = new AudioOut({
    socket,
    transport,
    batched,
    headerOf,
    totals,
    clock: baseClock,
    onSlowReader: giveUp,
    watch,
  });

  const cut = (how: 'end' | 'reset', cause: StreamTotals['cause'] & string) => {
    if (ended) return;
    end();
    totals.cause = cause;
    // Messages sent before the cut are on their way.
    batched.release();
    if (how === 'reset') transport.resetAndDestroy();
    else socket.terminate();
  };

  // Without a listener a bad frame would end the process. ws closes the connection itself.
  socket.on('error', (error) => {
    totals.cause ??= 'protocol-error';
    violation = error.message;
    end();
  });
  socket.on('pong', () => {
    pingPending = false;
  });
  socket.on('close', (code, reason) => {
    end();
    totals.code = code;
    totals.reason = reason.toString() || violation;
    totals.durationMs = durationMs();
    events.emit({ type: 'stream-closed', ...totals, remarks: device.verdict().remarks });
  });

  return {
    id,
    socket,
    remote,
    tokenElsewhere,
    values,
    totals,
    durationMs,
    device,
    audio,
    get ended() {
      return ended;
    },
    sendText: (text) => {
      if (!audio.maySend()) return;
      say(text);
      if (totals.device !== undefined) {
        events.emit({ type: 'message-sent', stream: id, device: totals.device, body: JSON.parse(text) });
      }
    },
    levels: () => ({ inDbfs: device.level.read(), outDbfs: audio.level.read() }),
    close,
    closeWith(code, reason, cause = 'control') {
      checkClose(code, reason);
      if (ended) return;
      if (code === closeCodes.abnormal) {
        cut('end', cause);
        return;
      }
      end();
      totals.cause = cause;
      sendClose(code, reason);
    },
    sendRaw(text) {
      if (audio.maySend()) say(text);
    },
    cut: (how) => cut(how, 'fault'),
    stall(ms) {
      stalls += 1;
      transport.cork();
      const timer = clock.after(ms, () => {
        stalls -= 1;
        transport.uncork();
      });
      endings.push(() => {
        timer.cancel();
        transport.uncork();
      });
    },
    stopReading: () => socket.pause(),
    freeze() {
      frozen = true;
      audio.shut();
      // Discard incoming data, so that the end of the peer is still noticed.
      transport.removeAllListeners('data').resume();
    },
    probe() {
      if (frozen || stalls > 0) return;
      if (pingPending) {
        totals.cause ??= 'half-open';
        end();
        socket.terminate();
        return;
      }
      pingPending = true;
      socket.ping();
      watch?.ping();
    },
    onEnding(call) {
      if (ended) call();
      else endings.push(call);
    },
    observe(make) {
      const added = make(isOurEnd);
      const changed = () => {
        watch = joinWatches(observers);
        audio.watch = watch;
      };
      observers.push(added);
      changed();
      return () => {
        added.stop();
        observers.splice(observers.indexOf(added), 1);
        changed();
      };
    },
  };
}

/** A peer that has not read everything by then is cut anyway. */
const flushMs = 2_000;

/** Ends the connection without a close frame, after everything already sent. */
function endTransport(socket: WebSocket, transport: Socket, clock: Clock): void {
  const cut = clock.after(flushMs, () => socket.terminate(), { background: true });
  socket.once('close', cut.cancel);
  transport.destroySoon();
}

/** Throws `usage` if the code or the reason cannot be sent; 1005 and 1006 stand for no code and no close frame. */
export function checkClose(code: number, reason: string): void {
  const standsForNone = code === closeCodes.noStatus || code === closeCodes.abnormal;
  if (!standsForNone && !isSendableCloseCode(code))
    throw new VoicectlError('usage', `Close code ${code} cannot be sent`);
  if (Buffer.byteLength(reason) > maxCloseReasonBytes)
    throw new VoicectlError('usage', `A close reason has at most ${maxCloseReasonBytes} bytes`);
}

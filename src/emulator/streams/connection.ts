import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ListenerBudget } from '../../audio/verdict/listener-budget.ts';
import type { LostTime } from '../../audio/verdict/pace-check.ts';
import { VoiceCheck } from '../../audio/verdict/voice-check.ts';
import type { Clock } from '../../kernel/clock.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import type { CloseCause, Dialect } from '../../protocol/dialect.ts';
import { createMessageReader, writeError } from '../../protocol/messages.ts';
import { unusualKind } from '../../protocol/read-message.ts';
import type { EmulatorEvents, StreamTotals } from '../../service/events.ts';
import type { Random } from '../../service/random.ts';
import { lostOnTheWay } from '../../service/streams/lost-time.ts';
import { createMessageValues, type OpenStream } from '../../service/streams/open-stream.ts';
import { BatchedSocket } from '../../wire/server/batched-socket.ts';
import { Line } from '../../wire/server/network/line.ts';
import { receiverOf, violationCode, violationOf } from '../../wire/server/unfinished.ts';
import { AudioOut } from './audio-out.ts';
import { createEnding, type Ending } from './ending.ts';
import { joinWatches, type OurEnd, type SentWatch } from './tap-stream.ts';

/** One WebSocket connection: it sends, ends and counts. */
export interface StreamConnection extends OpenStream {
  readonly socket: WebSocket;
  /** Where the upgrade request has a token, if it has one. The service does not look for it there. */
  readonly tokenElsewhere: string | undefined;
  /** The token that it presented, once it has. */
  token: string | undefined;
  readonly device: VoiceCheck;
  /** Sends audio, until the connection closes. */
  readonly audio: AudioOut;
  /** Whether this side is closing it, or it has ended. */
  readonly ended: boolean;
  /**
   * Sends the error message that goes before this close (dialect), then the close. `why`: more about the cause, for the
   * journal, and for the device if the dialect says so. Only the first call counts.
   */
  close(cause: CloseCause, why?: string): void;
  /** Pings the peer every `everyMs`; cuts the connection without a close frame if the previous ping was not answered. */
  probe(everyMs: number): void;
  /** Adds an observer. Call the result to remove it. */
  observe(watch: MakeWatch): () => void;
  /** Ends it because one of its handlers threw this. */
  onThrown(thrown: unknown): void;
}

export interface ConnectionOptions {
  id: number;
  socket: WebSocket;
  remote: string;
  tokenElsewhere: string | undefined;
  random: Pick<Random, 'id'>;
  /** The socket under the WebSocket. */
  transport: Socket;
  /** The frame header of a binary message, by its length in bytes. */
  headerOf: (length: number) => Buffer;
  /** The clock of the service, which can be moved forward. */
  clock: Clock;
  /** The clock of the machine: audio is heard when it arrives, even if the clock of the service was moved. */
  baseClock: Clock;
  /** Time in which the emulator did not run. */
  own: LostTime;
  /** Limits how many devices are listened to at once. */
  listeners: ListenerBudget;
  dialect: Dialect;
  events: EmulatorEvents;
  onThrown: (thrown: unknown) => void;
  /** Makes an observer of the stream. */
  watch?: MakeWatch | undefined;
}

export function createConnection(options: ConnectionOptions): StreamConnection {
  const { id, socket, remote, tokenElsewhere, random, transport, clock, baseClock, dialect, events } =
    options;
  const startedAt = baseClock.now();
  const durationMs = () => Math.round(baseClock.now() - startedAt);
  const { listeners } = options;
  const own = lostOnTheWay(options.own, transport);
  const device = new VoiceCheck({ from: 'device', clock: baseClock, own, budget: listeners });
  const batched = new BatchedSocket(transport);
  const totals = emptyTotals(id);
  const watchers = createWatchers(
    () => (totals.cause === undefined ? undefined : (ending.sent ?? {})),
    options.watch,
  );
  const values = createMessageValues({ stream: id, totals, random, clock });
  const say = (text: string) => {
    socket.send(text);
    watchers.watch?.text(text);
  };
  const ending = createEnding({
    ...{ socket, transport, batched, dialect, totals },
    clock: baseClock,
    sendError: (code, message) => say(writeError(dialect, code, message, values)),
  });
  const audio = new AudioOut({
    ...{ socket, transport, batched, totals },
    headerOf: options.headerOf,
    clock: baseClock,
    onSlowReader() {
      ending.close('slowReader');
      // Later messages are useless. Unread, they cost nothing until the connection is cut.
      socket.pause();
    },
    isHeldBack: () => liveness.isHeldBack(),
    watch: watchers.watch,
  });
  ending.onEnding(() => audio.shut());
  const onPing = () => watchers.watch?.ping();
  const liveness = createLiveness({ socket, transport, clock, totals, audio, ending, onPing });
  const { probe, stall, freeze, stopReading } = liveness;
  reportEnd({ socket, totals, ending, liveness, durationMs, device, events });

  const readText = createMessageReader();
  return {
    ...{ id, socket, remote, tokenElsewhere, values, totals, durationMs, device, audio },
    token: undefined,
    ...{ probe, stall, freeze, stopReading, onThrown: options.onThrown },
    get ended() {
      return ending.ended;
    },
    onEnding: ending.onEnding,
    close: ending.close,
    closeWith: (code, reason, cause = 'control') => ending.closeWith(code, reason, cause),
    cut: (how) => ending.cut(how, 'fault'),
    levels: () => ({ inDbfs: device.level.read(), outDbfs: audio.level.read() }),
    sendText(text) {
      if (!audio.maySend()) return;
      say(text);
      const message = readText(text);
      const { device: named } = totals;
      if (named === undefined) return;
      const { body } = message;
      events.emit({ type: 'message-sent', stream: id, device: named, body, ...unusualKind(message) });
    },
    sendRaw(text) {
      if (audio.maySend()) say(text);
    },
    observe(make) {
      const remove = watchers.add(make);
      audio.watch = watchers.watch;
      return () => {
        remove();
        audio.watch = watchers.watch;
      };
    },
  };
}

function emptyTotals(stream: number): StreamTotals {
  return {
    stream,
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
}

/** Audio that a device may send before a close reaches it. */
const mostInFlightBytes = bytesForMs(500);

/** Completes the totals when the connection has closed, and reports them. */
function reportEnd({
  socket,
  totals,
  ending,
  liveness,
  durationMs,
  device,
  events,
}: Pick<StreamConnection, 'socket' | 'totals' | 'durationMs' | 'device'> & {
  ending: Ending;
  liveness: Liveness;
  events: EmulatorEvents;
}): void {
  let violation = '';
  let afterClose = 0;
  let wasStopped = false;
  // Without a listener a bad frame would end the process. ws closes the connection itself.
  socket.on('error', (error) => {
    totals.cause ??= 'protocol-error';
    violation = violationOf(socket, error);
    // ws reads no answer to it.
    totals.sentCode ??= violationCode(error);
    ending.begin();
  });
  ending.onEnding(() => {
    wasStopped = liveness.isStopped();
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const { at, heldMs = 0 } = device.arrival();
      if (isBinary && at - heldMs >= (ending.reachedAt ?? Number.POSITIVE_INFINITY))
        afterClose += data.length;
    });
  });
  socket.on('close', (code, reason) => {
    ending.begin();
    const isUnread = wasStopped || liveness.isStopped() || ending.reachedAt === undefined;
    totals.code = isUnread && code === closeCodes.abnormal ? (totals.sentCode ?? code) : code;
    totals.reason = reason.toString() || violation;
    totals.durationMs = durationMs();
    if (afterClose > mostInFlightBytes && !isUnread) totals.bytesAfterClose = afterClose;
    const { findings, remarks } = device.verdict();
    events.emit({ type: 'stream-closed', ...totals, findings, remarks });
  });
}

/** Checks whether the peer still answers, and applies the faults `stall`, `half-open` and `deaf`. */
interface Liveness extends Pick<StreamConnection, 'probe' | 'stall' | 'freeze' | 'stopReading'> {
  /** Whether this side, or a network that it simulates, holds back what is sent. */
  isHeldBack(): boolean;
  /** Whether this side, or a network that it simulates, stops traffic: then silence does not mean that the peer is silent. */
  isStopped(): boolean;
}

interface LivenessOptions extends Pick<ConnectionOptions, 'socket' | 'transport' | 'clock'> {
  totals: StreamTotals;
  audio: AudioOut;
  ending: Ending;
  /** Called when a ping was sent. */
  onPing: () => void;
}

function createLiveness(options: LivenessOptions): Liveness {
  const { socket, transport, clock, totals, audio, ending } = options;
  let pingPending = false;
  let frozen = false;
  let stalls = 0;
  let hasPeerEnded = false;
  let passedBefore = 0;
  receiverOf(socket).once('conclude', () => {
    hasPeerEnded = true;
    // The device has ended it, even if it keeps the connection open: its slot is free.
    ending.begin();
  });
  socket.on('pong', () => {
    pingPending = false;
  });
  const isHeldBack = () => stalls > 0 || (transport instanceof Line && transport.isDown);
  const isStopped = () => frozen || socket.isPaused || isHeldBack();
  return {
    isHeldBack,
    isStopped,
    probe(everyMs) {
      // A ping waits behind what a network has held back; as long as that arrives, the peer reads.
      const passedBytes = transport instanceof Line ? transport.passedBytes : 0;
      const isCatchingUp = audio.isBacklogOurs() && passedBytes > passedBefore;
      passedBefore = passedBytes;
      if (isStopped() || isCatchingUp) {
        pingPending = false;
        return;
      }
      if (pingPending) {
        totals.cause ??= 'half-open';
        totals.why ??= `no pong for ${everyMs / 1000} s: answer each ping, which comes every ${everyMs / 1000} s`;
        ending.begin();
        socket.terminate();
        return;
      }
      pingPending = true;
      socket.ping();
      options.onPing();
    },
    stall(ms) {
      stalls += 1;
      transport.cork();
      const timer = clock.after(ms, () => {
        stalls -= 1;
        transport.uncork();
      });
      const release = () => {
        timer.cancel();
        transport.uncork();
      };
      ending.onEnding(() => {
        // A device that gave up waiting gets none of the output that was held back.
        if (hasPeerEnded) socket.once('close', release);
        else release();
      });
    },
    freeze() {
      frozen = true;
      audio.shut();
      // Discard incoming data, so that the end of the peer is still noticed.
      transport.removeAllListeners('data').resume();
    },
    stopReading: () => socket.pause(),
  };
}

/** Makes an observer of a stream. */
type MakeWatch = (ourEnd: OurEnd) => SentWatch;

/** The observers of one stream. */
interface Watchers {
  /** All observers as one; undefined if there are none. */
  readonly watch: SentWatch | undefined;
  /** Adds an observer. Call the result to remove it. */
  add(make: MakeWatch): () => void;
}

function createWatchers(ourEnd: OurEnd, first?: MakeWatch): Watchers {
  const observers: SentWatch[] = first === undefined ? [] : [first(ourEnd)];
  let watch = joinWatches(observers);
  return {
    get watch() {
      return watch;
    },
    add(make) {
      const added = make(ourEnd);
      observers.push(added);
      watch = joinWatches(observers);
      return () => {
        added.stop();
        const at = observers.indexOf(added);
        if (at >= 0) observers.splice(at, 1);
        watch = joinWatches(observers);
      };
    },
  };
}

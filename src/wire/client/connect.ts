import { type RawData, WebSocket } from 'ws';
import { atTurnEnd, type Clock, repeat, systemClock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { whenAborted } from '../../kernel/promises.ts';
import { closeCodes, streamCloseMs } from '../../protocol/close-codes.ts';
import { concealKnown, concealText, concealTokens } from '../conceal.ts';
import type { Breakdown, Side, StreamEnd, WireMessage } from '../exchange.ts';
import { tokenFacts } from '../token-facts.ts';
import { maxMessageBytes, tooLongText } from './frames.ts';
import { awaitUpgrade } from './handshake.ts';
import type { ClientLeg } from './http.ts';

/** Our limit; the specification has none. */
const maxWaitingPongs = 100;

/** Limits of a socket, for its options. */
const socketLimits = { maxPayload: maxMessageBytes, maxPendingAutoPongs: maxWaitingPongs };

/** The socket of a client. Knows how this side ended it: ws tells only what the other side did. */
class ClientSocket extends WebSocket {
  /** The code with which this side closed first: by itself, or because of what it received. */
  closedWith: number | undefined;
  /** Why it was ended because of what it received. */
  failure: VoicectlError | undefined;
  /** Called when either side closes, perhaps once for each of them. */
  onClosing: (() => void) | undefined;

  /** ws answers a close frame with its code and its reason; it closes because of a bad frame with a code alone. */
  override close(code?: number, reason?: string | Buffer): void {
    if (code !== undefined && reason === undefined && this.readyState === WebSocket.OPEN)
      this.closedWith ??= code;
    this.onClosing?.();
    super.close(code, reason);
  }

  /** ws calls it if too many answers to pings wait to be sent. */
  override terminate(): void {
    const text = `The stream was cut: more than ${maxWaitingPongs} pings from the service came at once, which is voicectl’s limit`;
    this.failure ??= new VoicectlError('stream-broken', text);
    this.cut();
  }

  /** Ends the connection without a close frame. */
  cut(): void {
    super.terminate();
  }
}

/** The error for what ws does not accept. */
function receivedError(thrown: Error): VoicectlError {
  const text = isTooLong(thrown)
    ? tooLongText
    : `The service violated the WebSocket protocol: ${thrown.message}`;
  return new VoicectlError('protocol-violation', text, { cause: thrown });
}

/** What broke a stream, as its exchange has it: of a violation, only which one. A limit of ours is none. */
function breakdownOf({ code, message, cause }: VoicectlError): Breakdown {
  if (code !== 'protocol-violation' || !(cause instanceof Error)) return { code, message };
  return isTooLong(cause) ? { code: 'stream-broken', message } : { code, message: cause.message };
}

function isTooLong(thrown: Error): boolean {
  return 'code' in thrown && thrown.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}

export interface ConnectOptions extends ClientLeg {
  url: string;
  /** For the handshake. Default 10 s. */
  timeoutMs?: number | undefined;
  /** Additional headers of the upgrade. */
  headers?: Record<string, string>;
  /**
   * Called with each text message, without the secrets of this connection. A JWT that the service grants in it is still there,
   * for the application; the tap gets none.
   */
  onText: (text: string) => void;
  /** Called with each binary message, unchanged. */
  onBinary: (data: Buffer) => void;
}

/** An open WebSocket to a service. Reports its traffic to the tap. */
export interface Connection {
  readonly socket: WebSocket;
  readonly reading: Pick<Reading, 'isPaused' | 'pause' | 'resume'>;
  /** Sends the token. The tap gets only the facts about it. */
  present(token: string, opcode?: 'text' | 'binary'): void;
  /** Calls `onWritten` when the system has taken the message, like `sendBinary` and `ping`. */
  sendText(text: string, onWritten?: () => void): void;
  sendBinary(data: Buffer, onWritten?: () => void): void;
  ping(onWritten?: () => void): void;
  /** Call it when the service has shown, or may have shown, that it is alive. */
  beat(): void;
  /** Sends a close frame, by default with 1000. Resolves like `closed`. */
  close(code?: number): Promise<StreamEnd>;
  /** Ends the connection without a close frame. `why` is the reported reason. */
  cut(why?: VoicectlError): void;
  /** Resolves when either side has ended it. */
  readonly closed: Promise<StreamEnd>;
  /** Why the connection broke, if more is known than its close code. */
  readonly failure: VoicectlError | undefined;
}

/** No redirect is followed, and the handshake offers neither sub-protocols nor compression. */
const socketOptions = {
  followRedirects: false,
  perMessageDeflate: false,
  ...socketLimits,
  // Counts from the first close frame of either side. Not in the types of ws.
  closeTimeout: streamCloseMs,
};

/**
 * Opens a WebSocket and waits for its upgrade. Throws `connect-failed`, `tls-failed`, `handshake-failed`, `redirected`,
 * `stream-refused`, `too-many-connections`, `timed-out`, or the signal's reason.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { url, ca, clock, signal, redactor, tap, timeoutMs, onText, onBinary } = options;
  signal.throwIfAborted();
  const socket = new ClientSocket(url, [], {
    ...socketOptions,
    headers: options.headers ?? {},
    ca,
  });
  let cutFor: VoicectlError | undefined;
  const report = createTapReport({ clock, redactor, tap });
  const receive = (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      report?.binary('service', data);
      onBinary(data);
      return;
    }
    const text = concealKnown(data.toString(), redactor);
    report?.text('service', concealTokens(text));
    onText(text);
  };

  // Listen from the start: messages in one packet with the answer to the upgrade arrive before `open` resolves.
  const inOrder = createHold();
  const reading = createReading(socket);
  socket.on('message', (data: RawData, isBinary) => {
    reading.took();
    inOrder.pass(() => receive(data as Buffer, isBinary));
  });
  if (report !== undefined) reportPings(socket, (call) => inOrder.pass(() => call(report)));
  // Listen after the handshake too: a bad frame causes an error, then a close.
  socket.on('error', (thrown) => {
    socket.failure ??= receivedError(thrown);
  });
  let endedAt: number | undefined;
  // The service may leave its connection open after the close.
  socket.onClosing = () => {
    endedAt ??= clock.now();
  };
  const closed = new Promise<StreamEnd>((resolve) => {
    socket.on('close', (code, reason) => {
      const failure = cutFor ?? socket.failure;
      const breakdown = failure && { ...breakdownOf(failure), by: 'service' as const };
      resolve({
        at: endedAt ?? clock.now(),
        ...endOf(socket, code, redactor.text(reason.toString())),
        breakdown,
      });
    });
  });
  await awaitUpgrade(socket, {
    ...{ url, clock, signal, redactor, timeoutMs },
    onUpgrade: tap?.opened?.bind(tap),
  });
  inOrder.release();
  const cut = (why?: VoicectlError) => {
    cutFor ??= why;
    socket.cut();
  };
  /** After a close ws drops what is sent. */
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const ping = (onWritten?: () => void) => {
    socket.ping(undefined, undefined, onWritten);
    report?.control('device', 'ping', 0);
  };
  const heartbeat = startHeartbeat(socket, { clock, ping, onDead: () => cut(deadError()) });
  void closed.then((end) => {
    heartbeat.stop();
    tap?.closed?.(end);
  });

  return {
    socket,
    reading,
    closed,
    get failure() {
      const failure = cutFor ?? socket.failure;
      return failure && (redactor.thrown(failure) as VoicectlError);
    },
    present(token, opcode = 'text') {
      redactor.conceal(token);
      socket.send(token, { binary: opcode === 'binary' });
      report?.presented(token, opcode);
    },
    sendText(text, onWritten) {
      const isSent = isOpen();
      socket.send(text, onWritten);
      if (isSent) report?.text('device', concealText(text, redactor));
    },
    sendBinary(data, onWritten) {
      const isSent = isOpen();
      socket.send(data, { binary: true }, onWritten);
      if (isSent) report?.binary('device', data);
    },
    ping,
    beat: heartbeat.beat,
    close(code = closeCodes.normal) {
      if (isOpen()) socket.close(code);
      return closed;
    },
    cut,
  };
}

/** Who ended a stream, and how. `code`, `reason`: of the close frame that was received; 1006: none was. */
function endOf(
  { closedWith, failure }: ClientSocket,
  code: number,
  reason: string,
): Omit<StreamEnd, 'at' | 'breakdown'> {
  if (closedWith === undefined) return { by: failure === undefined ? 'service' : 'device', code, reason };
  if (failure !== undefined) return { by: 'device', code: closedWith, reason: '' };
  if (code === closedWith) return { by: 'device', code, reason };
  return { by: 'device', code: closedWith, reason: '', answer: { code, reason } };
}

type TapReport = NonNullable<ReturnType<typeof createTapReport>>;

/** Reports traffic to a tap. Undefined without a tap, so that nothing is created for it. */
function createTapReport({ clock, redactor, tap }: Pick<ClientLeg, 'clock' | 'redactor' | 'tap'>) {
  if (tap?.message === undefined) return undefined;
  const pass = (message: WireMessage) => tap.message?.(message);
  return {
    text: (from: Side, text: string) =>
      pass({ at: clock.now(), from, opcode: 'text', text, bytes: Buffer.byteLength(text) }),
    binary: (from: Side, data: Buffer) =>
      pass({ at: clock.now(), from, opcode: 'binary', data, bytes: data.length }),
    presented: (token: string, opcode: 'text' | 'binary') =>
      pass({
        at: clock.now(),
        from: 'device',
        opcode,
        token: tokenFacts(token, redactor),
        bytes: Buffer.byteLength(token),
      }),
    control: (from: Side, opcode: 'ping' | 'pong', bytes: number) =>
      pass({ at: clock.now(), from, opcode, bytes }),
  };
}

/** ws answers each ping without our help. */
function reportPings(socket: WebSocket, pass: (call: (report: TapReport) => void) => void): void {
  socket.on('pong', ({ length }) => pass((tell) => tell.control('service', 'pong', length)));
  socket.on('ping', ({ length }) =>
    pass((tell) => {
      tell.control('service', 'ping', length);
      tell.control('device', 'pong', length);
    }),
  );
}

/** Holds calls back until `release`, then makes them in order. Later calls are made at once. */
function createHold(): { pass(call: () => void): void; release(): void } {
  let held: (() => void)[] | undefined = [];
  return {
    pass(call) {
      if (held === undefined) call();
      else held.push(call);
    },
    release() {
      const calls = held ?? [];
      held = undefined;
      for (const call of calls) call();
    },
  };
}

function deadError(): VoicectlError {
  return new VoicectlError('timed-out', 'The service stopped answering pings');
}

const pingEveryMs = 15_000;

interface Heartbeat {
  /** Call it when the peer has shown, or may have shown, that it is alive. */
  beat(): void;
  stop(): void;
}

interface HeartbeatOptions {
  clock: Clock;
  ping(): void;
  onDead(): void;
}

/** Pings the peer every 15 s, and calls `onDead` if nothing arrived from it between two pings. */
export function startHeartbeat(socket: WebSocket, { clock, ping, onDead }: HeartbeatOptions): Heartbeat {
  let isAlive = true;
  const beat = () => {
    isAlive = true;
  };
  for (const event of ['pong', 'ping', 'message']) socket.on(event, beat);
  const timer = repeat(clock, pingEveryMs, () => {
    // While reading is paused, no answer can arrive.
    if (!isAlive && !socket.isPaused) {
      timer.cancel();
      onDead();
      return;
    }
    isAlive = false;
    if (socket.readyState === WebSocket.OPEN) ping();
  });
  return { beat, stop: () => timer.cancel() };
}

/** After this many messages everything else runs: keys, timers, other sockets. */
const messagesAtOnce = 256;

/** Reads from a socket until it is paused, in batches that leave time for other work. */
interface Reading {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  /** Call it for each message that arrives. */
  took(): void;
}

/** Without batches, all other work would wait during a flood of messages. */
export function createReading(socket: Pick<WebSocket, 'pause' | 'resume'>): Reading {
  let count = 0;
  let isPaused = false;
  let isResting = false;
  const goOn = () => {
    isResting = false;
    if (!isPaused) socket.resume();
  };
  return {
    get isPaused() {
      return isPaused;
    },
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      if (!isResting) socket.resume();
    },
    took() {
      count += 1;
      if (count < messagesAtOnce) return;
      count = 0;
      if (isResting) return;
      isResting = true;
      socket.pause();
      atTurnEnd(goOn, undefined);
    },
  };
}

/** After a request to end, the answer to a close is awaited so long: the rest of 2 s is for what else ends then. */
const hastyCloseMs = 1_000;

/** Cuts a connection that is still open a moment after the abort. */
export async function cutSoonAfter(hurry: AbortSignal, { closed, cut }: Connection): Promise<void> {
  const over = new AbortController();
  void closed.then(() => over.abort());
  await whenAborted(AbortSignal.any([hurry, over.signal]));
  // In the machine's time, like the 2 s of ws.
  const timer = systemClock.after(hastyCloseMs, cut);
  await closed;
  timer.cancel();
}

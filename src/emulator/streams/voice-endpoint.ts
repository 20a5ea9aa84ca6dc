import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { ListenerBudget } from '../../audio/verdict/listener-budget.ts';
import { type Clock, type ClockTimer, repeat } from '../../kernel/clock.ts';
import { closeCodeName, closeCodes, streamCloseMs } from '../../protocol/close-codes.ts';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { tokenPlace } from '../../protocol/first-message.ts';
import { writeDialectMessage } from '../../protocol/messages.ts';
import { streamPath } from '../../protocol/paths.ts';
import {
  createObservers,
  type ObservedStream,
  type ObserveStream,
} from '../../service/control/page-handler.ts';
import type { EmulatorEvents, StreamTotals } from '../../service/events.ts';
import { bugOf, closeAfterBug, GuardedSocket, guardClock, runGuarded } from '../../service/guard.ts';
import { invalidRequest } from '../../service/http/refusal.ts';
import type { Random } from '../../service/random.ts';
import { whenKnown } from '../../service/state/state.ts';
import { createOwnLateness } from '../../service/streams/lost-time.ts';
import { plainAddress } from '../../wire/addresses.ts';
import { createAudioHeaders } from '../../wire/server/audio-frame.ts';
import { sendRawAnswer } from '../../wire/server/http-answer.ts';
import { UnfinishedMessages } from '../../wire/server/unfinished.ts';
import type { Tap } from '../../wire/tap.ts';
import { type AuthorisationOptions, awaitToken, createTokenUses, type TokenUses } from './authorisation.ts';
import { sendConnected } from './connected-message.ts';
import { createConnection, type StreamConnection } from './connection.ts';
import { createEarlyBytes, type EarlyBytes } from './early-bytes.ts';
import { type LiveStream, type LiveStreamOptions, startLiveStream } from './live-stream.ts';
import { type TapStreamOptions, tapStream, type Upgraded } from './tap-stream.ts';

/** Maximum number of fragments of one message; beyond it ws closes with 1008. */
const maxFragments = 256;
/** Interval of pings. A peer that has not answered the last one is cut when the next is due. */
const defaultPingEveryMs = 15_000;
/**
 * How long a peer may take to end a closing connection, whichever side began; then it is cut.
 * An option of ws that @types/ws 8.18 does not know.
 */
const closeGrace = { closeTimeout: streamCloseMs };

export interface VoiceEndpoint {
  /** Takes an admitted upgrade request, or says why it refuses it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): RefusalCause | undefined;
  /** Closes every stream, and resolves when all have ended. */
  close(): Promise<void>;
  /** The open streams; `live` once the token is accepted. */
  streams(): VoiceConnection[];
  /** What each stream has counted whose end is not reported yet. */
  totals(): StreamTotals[];
  /** Gives a tap to each open stream, and to those that open until the result is called. */
  observe(createTap: ObserveStream): () => void;
  /** Gives the next stream this number. */
  countFrom(stream: number): void;
}

export interface VoiceConnection {
  connection: StreamConnection;
  live: LiveStream | undefined;
  claims: Readonly<object> | undefined;
}

export interface VoiceEndpointOptions
  extends Omit<LiveStreamOptions, 'connection' | 'claims' | 'onThrown'>,
    Pick<AuthorisationOptions, 'maxConnections' | 'authority' | 'state'> {
  random: Random;
  /** Finds the accepted keys in a text: no tap gets them. */
  keys: TapStreamOptions['keys'];
  /** Gives a tap for each stream, by its number. */
  tap: ((stream: number) => Tap | undefined) | undefined;
  pingEveryMs?: number | undefined;
  /** Number of the first stream. Default 1. */
  firstStream?: number | undefined;
}

/** The WebSocket side of the service. Specification: "WSS /voice-stream". */
export function createVoiceEndpoint(options: VoiceEndpointOptions): VoiceEndpoint {
  const { baseClock, dialect, events, random, maxConnections, keys } = options;
  const server = createUpgradeServer(dialect, events);
  const connections = new Set<StreamConnection>();
  const live = new WeakMap<StreamConnection, LiveStream>();
  const headerOf = createAudioHeaders();
  const { pingEveryMs = defaultPingEveryMs } = options;
  const heartbeat = startHeartbeat(connections, baseClock, pingEveryMs);
  const own = createOwnLateness(baseClock);
  const listeners = new ListenerBudget((most) => events.emit({ type: 'voices-unjudged', most }));
  const observers = createObservers(() => [...connections].map((one) => observed(one, options)));
  const capacity = createCapacity({ connections, settings: dialect.stream, maxConnections });
  const parts = {
    ...{ connections, live, capacity },
    uses: createTokenUses(),
    earlyBytes: createEarlyBytes(dialect.stream.earlyAudioBytes),
    unfinished: new UnfinishedMessages(dialect.stream.maxMessageBytes),
  };
  let nextId = options.firstStream ?? 1;

  return {
    streams: () =>
      [...connections]
        .filter(({ ended }) => !ended)
        .map((connection) => {
          const stream = live.get(connection);
          return { connection, live: stream, claims: stream?.claims };
        }),
    totals: () => [...connections].map(({ totals }) => totals),
    upgrade(request, socket, head) {
      const remote = plainAddress(request.socket.remoteAddress);
      const refused = capacity.refuseUpgrade(remote);
      if (refused !== undefined) return refused;
      // `handleUpgrade` calls back at once, so this is the number of the stream.
      const tap = options.tap?.(nextId);
      let answerLines: string[] = [];
      const keepLines = (lines: string[]) => {
        answerLines = [...lines];
      };
      if (tap !== undefined || observers.any) server.once('headers', keepLines);
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const id = nextId;
        nextId += 1;
        guardStream({ id, remote, socket: webSocket, options }, (guards) => {
          const upgraded = { request, answerLines };
          const { clock, baseClock, onThrown } = guards;
          const connection = createConnection({
            ...{ id, remote, random, headerOf, clock, baseClock, own, listeners, dialect, events, onThrown },
            socket: webSocket,
            tokenElsewhere: tokenPlace(request.url ?? '', request.headers),
            transport: request.socket,
            watch: tap && ((ourEnd) => tapStream({ tap, upgraded, keys, socket: webSocket, clock, ourEnd })),
          });
          guards.connection = connection;
          connections.add(connection);
          const unwatch = own.watch();
          webSocket.once('close', () => {
            connections.delete(connection);
            unwatch();
          });
          observers.opened(observed(connection, options, upgraded));
          events.emit({ type: 'stream-opened', stream: connection.id, remote });
          for (const message of dialect.stream.greeting)
            connection.sendText(writeDialectMessage(message, connection.values));
          beginStream({ ...options, ...guards }, parts, { connection, transport: request.socket });
        });
      });
      // A socket that has closed meanwhile gets no answer.
      server.off('headers', keepLines);
      return undefined;
    },
    observe: observers.add,
    countFrom(stream) {
      nextId = stream;
    },
    async close() {
      heartbeat.cancel();
      const gone = [...connections].map(
        ({ socket }) => new Promise((resolve) => socket.once('close', resolve)),
      );
      for (const connection of connections) connection.close('shutdown');
      await Promise.all(gone);
    },
  };
}

/** The guards of one stream: what its handlers throw ends only this stream. */
interface StreamGuards extends Pick<LiveStreamOptions, 'clock' | 'baseClock' | 'onThrown'> {
  /** Once it is made. */
  connection: StreamConnection | undefined;
}

function guardStream(
  {
    id,
    remote,
    socket,
    options,
  }: { id: number; remote: string; socket: GuardedSocket; options: VoiceEndpointOptions },
  begin: (guards: StreamGuards) => void,
): void {
  let isOver = false;
  const onThrown = (thrown: unknown) => {
    if (isOver) return;
    isOver = true;
    options.events.emit(bugOf(thrown, { stream: id, remote }, options.events));
    closeAfterBug([socket], (code, reason) => {
      if (guards.connection === undefined) socket.close(code, reason);
      else guards.connection.closeWith(code, reason, 'bug');
    });
  };
  const guards: StreamGuards = {
    clock: guardClock(options.clock, onThrown),
    baseClock: guardClock(options.baseClock, onThrown),
    onThrown,
    connection: undefined,
  };
  socket.onThrown = onThrown;
  runGuarded(() => begin(guards), onThrown);
}

interface SharedParts {
  connections: ReadonlySet<StreamConnection>;
  live: WeakMap<StreamConnection, LiveStream>;
  capacity: Capacity;
  uses: TokenUses;
  earlyBytes: EarlyBytes;
  unfinished: UnfinishedMessages;
}

/** Waits for the token of a new connection, then confirms the stream and begins it. */
function beginStream(
  options: VoiceEndpointOptions & Pick<StreamGuards, 'onThrown'>,
  { connections, live, capacity, uses, earlyBytes, unfinished }: SharedParts,
  { connection, transport }: { connection: StreamConnection; transport: Socket },
): void {
  const stopCounting = earlyBytes.watch(connection, transport);
  unfinished.watch(connection.socket, transport, (why) => {
    connection.totals.why ??= why;
    connection.closeWith(closeCodes.messageTooBig, closeCodeName(closeCodes.messageTooBig), 'protocol-error');
  });
  const settle = capacity.awaitToken(connection);
  awaitToken({
    ...options,
    connection,
    settings: options.dialect.stream,
    uses,
    isFull: capacity.isFull,
    evictOldest: (device) =>
      [...connections].find(({ ended, totals }) => !ended && totals.device === device)?.close('evicted'),
    onAuthorised(claims, connections) {
      stopCounting();
      settle();
      const { sub: device, jti } = claims;
      connection.totals.device = device;
      connection.totals.jti = jti;
      options.events.emit({ type: 'stream-authorised', stream: connection.id, device, jti, connections });
      const begin = () => {
        const stream = startLiveStream({ ...options, connection, claims });
        live.set(connection, stream);
        return stream.receive;
      };
      const confirmed =
        options.createReply.confirms?.(device) === true
          ? undefined
          : sendConnected({ ...options, connection }, { device, stream: connection.id });
      return whenKnown(confirmed, begin);
    },
  });
}

/** Makes WebSockets of upgrade requests. */
function createUpgradeServer(dialect: Dialect, events: EmulatorEvents) {
  const server = new WebSocketServer<typeof GuardedSocket>({
    WebSocket: GuardedSocket,
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: dialect.stream.maxMessageBytes,
    maxFragments,
    handleProtocols: () => false,
    ...closeGrace,
  });
  // Without a listener ws sends its own answers.
  server.on('wsClientError', ({ message }, socket) => {
    const answer = invalidRequest({ case: 'badHttp', message }, { dialect, events, path: streamPath });
    sendRawAnswer(socket, { ...answer, headers: [['Sec-WebSocket-Version', '13']] });
  });
  return server;
}

/** Pings every peer, so that peers which vanished without closing free their slots. */
function startHeartbeat(
  connections: ReadonlySet<StreamConnection>,
  clock: Clock,
  pingEveryMs: number,
): ClockTimer {
  return repeat(clock, pingEveryMs, () => {
    for (const connection of connections)
      runGuarded(() => connection.probe(pingEveryMs), connection.onThrown);
  });
}

/** Maximum number of connections without a token yet, of all devices together. */
const maxAwaitingToken = 1_024;

/** Limits the number of connections: as the dialect says, and to protect the emulator. */
interface Capacity {
  /** The reason to refuse one more connection from this address. */
  refuseUpgrade(address: string): RefusalCause | undefined;
  /** Whether all of the places for streams with a token are taken. */
  isFull(): boolean;
  /** Counts a connection without a token, until the result is called or the connection ends. */
  awaitToken(connection: StreamConnection): () => void;
}

interface CapacityOptions extends Pick<AuthorisationOptions, 'settings' | 'maxConnections'> {
  connections: ReadonlySet<StreamConnection>;
}

function createCapacity({ connections, settings, maxConnections }: CapacityOptions): Capacity {
  const { capacity, connectionLimit } = settings;
  let awaitingToken = 0;
  const count = (is: (connection: StreamConnection) => boolean) =>
    [...connections].filter((connection) => !connection.ended && is(connection)).length;
  const holds = (counts: (connection: StreamConnection) => boolean) =>
    capacity.connections !== undefined && count(counts) >= capacity.connections;
  return {
    refuseUpgrade(address) {
      if (awaitingToken >= maxAwaitingToken) return 'unavailable';
      if (capacity.refuseAt === 'upgrade' && holds(() => true)) return 'unavailable';
      const isOver = () => count(({ remote }) => remote === address) >= maxConnections;
      return connectionLimit === 'refuse-upgrade' && isOver() ? 'tooManyConnections' : undefined;
    },
    isFull: () => holds(({ totals }) => totals.device !== undefined),
    awaitToken(connection) {
      awaitingToken += 1;
      let awaiting = true;
      const settle = () => {
        if (awaiting) awaitingToken -= 1;
        awaiting = false;
      };
      connection.onEnding(settle);
      return settle;
    },
  };
}

/**
 * A tap that is given to an open stream does not see its upgrade. Its clock is the machine's, because audio is heard when it
 * arrives.
 */
function observed(
  connection: StreamConnection,
  { baseClock: clock, keys }: Pick<VoiceEndpointOptions, 'baseClock' | 'keys'>,
  upgraded?: Upgraded,
): ObservedStream {
  const { id, socket, onThrown } = connection;
  return {
    number: id,
    openForMs: upgraded === undefined ? connection.durationMs() : 0,
    give(tap) {
      const { token } = connection;
      return connection.observe((ourEnd) => tapStream({ upgraded, tap, keys, socket, clock, ourEnd, token }));
    },
    onEnd: (call) => void socket.once('close', call),
    onThrown,
  };
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { writeGiven } from '../../protocol/messages.ts';
import { streamPath } from '../../protocol/paths.ts';
import type { Pulse } from '../../wire/pulse.ts';
import { createAudioHeaders } from '../../wire/server/audio-frame.ts';
import { sendRawAnswer } from '../../wire/server/http-answer.ts';
import type { Tap } from '../../wire/tap.ts';
import type { ObserveStream } from '../control/page-handler.ts';
import type { EmulatorEvents } from '../events.ts';
import type { Faults } from '../faults/faults.ts';
import { invalidRequest } from '../http/refusal.ts';
import type { Random } from '../random.ts';
import type { ReplyMode } from '../replies/reply.ts';
import { whenKnown } from '../state/eventual.ts';
import type { State } from '../state/state.ts';
import type { TokenAuthority } from '../tokens/token-authority.ts';
import { holdsToken } from '../tokens/token-problem.ts';
import { awaitToken } from './authorisation.ts';
import { sendConnected } from './connected-message.ts';
import { type Connection, createConnection } from './connection.ts';
import { createEarlyBytes } from './early-bytes.ts';
import { type LiveStream, startLiveStream } from './live-stream.ts';
import { createOwnLateness } from './lost-time.ts';
import { createObservers } from './observers.ts';
import { tapStream } from './tap-stream.ts';
import { createTokenUses } from './token-uses.ts';

/** Most fragments of one message; beyond it ws closes with 1008. */
const maxFragments = 256;
/** Most connections without a token yet, of all devices together. */
const maxAwaitingToken = 1_024;
/** Interval of pings. A peer that has not answered the last one is cut when the next is due. */
const pingEveryMs = 15_000;
/**
 * How long a peer may take to end a closing connection, whichever side began; then it is cut.
 * An option of ws that @types/ws 8.18 does not know.
 */
const closeGrace = { closeTimeout: 2_000 };

export interface VoiceEndpoint {
  /** Takes an admitted upgrade request, or says why it refuses it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): RefusalCause | undefined;
  /** Closes every stream, and resolves when all have ended. */
  close(): Promise<void>;
  /** The open streams; `live` once the token is accepted. */
  streams(): OpenStream[];
  /** Gives a tap to each open stream, and to those that open until the result is called. */
  observe(createTap: ObserveStream): () => void;
}

export interface OpenStream {
  connection: Connection;
  live: LiveStream | undefined;
  claims: Readonly<object> | undefined;
}

export interface VoiceEndpointOptions {
  /** Movable: deadlines and expiry. */
  clock: Clock;
  /** The machine's: heartbeats follow real peers. */
  baseClock: Clock;
  dialect: Dialect;
  events: EmulatorEvents;
  random: Random;
  /** Connections per device. */
  maxConnections: number;
  authority: TokenAuthority;
  state: Pick<State, 'leaseSlot' | 'spendToken'>;
  pulse: Pulse;
  faults: Faults;
  createReply: ReplyMode;
  /** Gives a tap for each stream, by its number. */
  tap: ((stream: number) => Tap | undefined) | undefined;
  /** Number of the first stream. Default 1. */
  firstStream?: number | undefined;
}

/** The WebSocket side of the service. Specification: "WSS /voice-stream". */
export function createVoiceEndpoint(options: VoiceEndpointOptions): VoiceEndpoint {
  const { clock, baseClock, dialect, events, random, maxConnections } = options;
  const server = new WebSocketServer({
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
  const connections = new Set<Connection>();
  const live = new WeakMap<Connection, LiveStream>();
  const headerOf = createAudioHeaders();
  const heartbeat = startHeartbeat(connections, baseClock);
  const own = createOwnLateness(baseClock);
  const observers = createObservers(connections, clock);
  const uses = createTokenUses();
  const earlyBytes = createEarlyBytes(dialect.stream.earlyAudioBytes);
  let awaitingToken = 0;
  let nextId = options.firstStream ?? 1;

  const open = (connection: Connection, transport: Socket) => {
    const stopCounting = earlyBytes.watch(connection, transport);
    awaitingToken += 1;
    let awaiting = true;
    const settle = () => {
      if (awaiting) awaitingToken -= 1;
      awaiting = false;
    };
    connection.onEnding(settle);
    awaitToken({
      ...options,
      connection,
      settings: dialect.stream,
      uses,
      isFull: () => isFull(({ totals }) => totals.device !== undefined),
      evictOldest: (device) =>
        [...connections].find(({ ended, totals }) => !ended && totals.device === device)?.close('evicted'),
      onAuthorised(claims, connections) {
        stopCounting();
        settle();
        connection.totals.device = claims.sub;
        connection.totals.jti = claims.jti;
        events.emit({
          type: 'stream-authorised',
          stream: connection.id,
          device: claims.sub,
          jti: claims.jti,
          connections,
        });
        const begin = () => {
          const stream = startLiveStream({ ...options, connection, claims });
          live.set(connection, stream);
          return stream.take;
        };
        const confirmed =
          options.createReply.confirms?.(claims.sub) === true
            ? undefined
            : sendConnected({ ...options, connection }, { device: claims.sub, stream: connection.id });
        return whenKnown(confirmed, begin);
      },
    });
  };

  const count = (is: (connection: Connection) => boolean) =>
    [...connections].filter((connection) => !connection.ended && is(connection)).length;
  const isFull = (counts: (connection: Connection) => boolean) => {
    const { connections: most } = dialect.stream.capacity;
    return most !== undefined && count(counts) >= most;
  };

  /** The reason to refuse one more connection from this address. */
  const refuseUpgrade = (address: string): RefusalCause | undefined => {
    const { capacity, connectionLimit } = dialect.stream;
    if (awaitingToken >= maxAwaitingToken) return 'unavailable';
    if (capacity.refuseAt === 'upgrade' && isFull(() => true)) return 'unavailable';
    const isOver = () => count(({ remote }) => remote === address) >= maxConnections;
    return connectionLimit === 'refuse-upgrade' && isOver() ? 'tooManyConnections' : undefined;
  };

  return {
    streams: () =>
      [...connections]
        .filter(({ ended }) => !ended)
        .map((connection) => {
          const stream = live.get(connection);
          return { connection, live: stream, claims: stream?.claims };
        }),
    upgrade(request, socket, head) {
      const remote = request.socket.remoteAddress ?? '';
      const refused = refuseUpgrade(remote);
      if (refused !== undefined) return refused;
      // ws calls back at once: the next stream is this one.
      const tap = options.tap?.(nextId);
      let answerLines: string[] = [];
      if (tap !== undefined || observers.any) server.once('headers', (lines) => (answerLines = [...lines]));
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = createConnection({
          id: nextId++,
          socket: webSocket,
          remote,
          tokenElsewhere: findToken(request),
          random,
          transport: request.socket,
          headerOf,
          clock,
          baseClock,
          own,
          dialect,
          events,
          watch:
            tap &&
            ((isOurEnd) =>
              tapStream({ tap, upgraded: { request, answerLines }, socket: webSocket, clock, isOurEnd })),
        });
        connections.add(connection);
        observers.opened(connection, { request, answerLines });
        const unwatch = own.watch();
        webSocket.once('close', () => {
          connections.delete(connection);
          unwatch();
        });
        events.emit({ type: 'stream-opened', stream: connection.id, remote });
        for (const message of dialect.stream.greeting)
          connection.sendText(writeGiven(message, connection.values));
        open(connection, request.socket);
      });
      return undefined;
    },
    observe: observers.add,
    async close() {
      heartbeat.stop();
      const gone = [...connections].map(
        ({ socket }) => new Promise((resolve) => socket.once('close', resolve)),
      );
      for (const connection of connections) connection.close('shutdown');
      await Promise.all(gone);
    },
  };
}

/** Where a client put a token on the upgrade request; the specification has none there. */
function findToken({ headers, url = '' }: IncomingMessage): string | undefined {
  const places: [text: string | undefined, place: string][] = [
    [headers.authorization, 'the header Authorization'],
    [headers['sec-websocket-protocol'], 'the header Sec-WebSocket-Protocol'],
    [url, 'the URL'],
  ];
  return places.find(([text]) => text !== undefined && holdsToken(text))?.[1];
}

/** Frees the slots of peers that vanished without closing. */
function startHeartbeat(connections: ReadonlySet<Connection>, clock: Clock) {
  const beat = () => {
    for (const connection of connections) connection.probe();
    timer = clock.after(pingEveryMs, beat, { background: true });
  };
  let timer = clock.after(pingEveryMs, beat, { background: true });
  return { stop: () => timer.cancel() };
}

import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import type { VoicectlError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redact.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { tokenPlace } from '../protocol/first-message.ts';
import { streamPath } from '../protocol/paths.ts';
import type { ObserveStream } from '../service/control/page-handler.ts';
import { aboutRequest, bugOf, closeAfterBug, guarded } from '../service/guard.ts';
import { invalidRequest, refuseRequest } from '../service/http/refusal.ts';
import { addressOf, ownFailure } from '../service/http/service-server.ts';
import { concealAnswer, concealRequest } from '../wire/conceal.ts';
import type { Breakdown, Header, HttpAnswer, Upgrade } from '../wire/exchange.ts';
import { headerPairs } from '../wire/headers.ts';
import { sendRawAnswer } from '../wire/server/http-answer.ts';
import type { Tap } from '../wire/tap.ts';
import { passedHeaders } from './headers.ts';
import { ownerOf } from './judge.ts';
import { LegSocket } from './leg-socket.ts';
import type { ProxyTarget } from './options.ts';
import { ProxiedStream, type SharedByStreams } from './proxied-stream.ts';
import type { Deadlines } from './reach-target.ts';
import { refusedByTarget } from './refused-by-target.ts';
import type { Secrets } from './secrets.ts';
import { legSettings, openUpgradeLeg, type UpgradeOutcome } from './upgrade-leg.ts';

export interface StreamsOptions extends SharedByStreams {
  target: ProxyTarget;
  deadlines: Deadlines;
  secrets: Secrets;
  tap: ((stream: number) => Tap | undefined) | undefined;
  /** A stream has ended, and was judged. */
  onEnded?: ((stream: number) => void) | undefined;
}

/** The WebSocket side of a proxy. */
export interface ProxiedStreams {
  /** Takes an admitted upgrade. `url`: of the target. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, url: string): void;
  streams(): readonly ProxiedStream[];
  /** Gives a tap to each open stream, as the device sees it, and to those that open until the result is called. */
  observe(createTap: ObserveStream): () => void;
  /** Closes both sides of each stream with 1001, and resolves when all have ended. */
  close(): Promise<void>;
}

/** An upgrade of a device that the target refuses. */
interface Refusable {
  request: IncomingMessage;
  socket: Duplex;
  seen: (answer: HttpAnswer) => Upgrade;
  redactor: Redactor;
}

/** What the target answered to an upgrade, until the device has its own answer. */
interface Chosen {
  headers: readonly Header[];
  protocol: string | undefined;
}

/** At the end of the proxy a side that does not answer the close is cut after this time. */
const lastCloseMs = 1_000;

export function createProxiedStreams(options: StreamsOptions): ProxiedStreams {
  const { target, deadlines, baseClock, dialect, events } = options;
  const chosen = new WeakMap<IncomingMessage, Chosen>();
  const server = new WebSocketServer<typeof WebSocket>({
    ...legSettings,
    noServer: true,
    clientTracking: false,
    WebSocket: LegSocket as unknown as typeof WebSocket,
    handleProtocols: (_offered, request) => chosen.get(request)?.protocol ?? false,
  });
  server.on('headers', (lines, request) => {
    for (const [name, value] of chosen.get(request)?.headers ?? []) lines.push(`${name}: ${value}`);
  });
  server.on('wsClientError', ({ message }, socket) => {
    const answer = invalidRequest(
      { case: 'badHttp', message },
      { dialect, events: events.of.device, path: streamPath },
    );
    sendRawAnswer(socket, answer);
  });
  const open = new Map<number, ProxiedStream>();
  const observers = new Set<(stream: ProxiedStream, isNew: boolean) => void>();
  const opening = new Set<Duplex>();
  let nextId = 1;
  let isClosing = false;

  const start = (
    request: IncomingMessage,
    legs: { device: LegSocket; service: LegSocket; transport: Socket },
    upgrade: Upgrade,
    redactor: Redactor,
  ) => {
    const id = nextId;
    nextId += 1;
    const remote = addressOf(request);
    const begin = () => {
      const stream = new ProxiedStream({
        ...options,
        ...{ id, remote, upgrade, redactor },
        device: { socket: legs.device, transport: request.socket },
        service: { socket: legs.service, transport: legs.transport },
        tap: options.tap?.(id),
        countOf: (device) => [...open.values()].filter(({ subject }) => subject.device === device).length,
        onEnd() {
          open.delete(id);
          options.onEnded?.(id);
        },
      });
      open.set(id, stream);
      for (const observe of observers) observe(stream, true);
      if (isClosing) stream.joined.close(closeCodes.goingAway, dialect.stream.closes.shutdown.reason);
    };
    guarded(begin, (thrown) => {
      events.emit(bugOf(thrown, { stream: id, remote }));
      for (const leg of [legs.device, legs.service]) {
        leg.on('error', () => leg.terminate());
        closeAfterBug([leg], (code, reason) => leg.closeNow(code, reason));
      }
    });
  };

  const refuse = (request: IncomingMessage, socket: Duplex, failure: VoicectlError) => {
    const about = { dialect, events: events.of.service, path: streamPath, remote: addressOf(request) };
    const detail = failure.hint === undefined ? failure.message : `${failure.message} ${failure.hint}`;
    sendRawAnswer(socket, refuseRequest('unavailable', { ...about, detail }));
  };

  const relay = (refused: IncomingMessage, { request, socket, seen, redactor }: Refusable) => {
    const status = refused.statusCode ?? 0;
    const about = { path: streamPath, remote: addressOf(request) };
    const body = redactor.text(refused.statusMessage ?? '');
    events.of.service.emit(refusedByTarget({ status, body }, about));
    const answer = { status, headers: headerPairs(refused.rawHeaders), body: '', firstByteMs: 0 };
    const upgrade = seen(concealAnswer(answer, redactor));
    const exchange = { kind: 'stream' as const, upgrade, messages: [], end: undefined };
    const id = nextId;
    nextId += 1;
    options.judge.ended({
      id,
      device: undefined,
      owner: ownerOf(undefined),
      hearsWrongAudio: false,
      seenBy: () => exchange,
      heard: () => undefined,
      failed() {},
    });
    void relayRefusal(refused, socket);
  };

  return {
    streams: () => [...open.values()],
    observe(createTap) {
      const stops = new Map<ProxiedStream, () => void>();
      const observe = (stream: ProxiedStream, isNew: boolean) => {
        const { connection, witness, hasEnded } = stream;
        const tap = createTap(connection.id, isNew ? 0 : connection.durationMs());
        if (tap === undefined) return;
        stops.set(stream, witness.observe(tap, isNew));
        void hasEnded.then(() => stops.delete(stream));
      };
      for (const stream of open.values()) observe(stream, false);
      observers.add(observe);
      return () => {
        observers.delete(observe);
        for (const stop of stops.values()) stop();
      };
    },
    upgrade(request, socket, head, url) {
      const [at, wallAt] = [baseClock.now(), baseClock.wall()];
      const headers = headerPairs(request.rawHeaders);
      const sent = { method: 'GET', url, headers, body: '' };
      const redactor = options.secrets.redactor();
      const told = concealRequest(sent, redactor);
      const tokenIn = tokenPlace(url, request.headers);
      const seen = (answer: HttpAnswer | undefined, breakdown?: Breakdown): Upgrade => ({
        ...{ at, wallAt, answer, breakdown, totalMs: baseClock.now() - at },
        request: told,
        ...(tokenIn === undefined ? {} : { tokenIn }),
      });
      opening.add(socket);
      socket.once('close', () => opening.delete(socket));
      const answered = (outcome: UpgradeOutcome) => {
        opening.delete(socket);
        if ('failure' in outcome) refuse(request, socket, outcome.failure);
        else if ('refused' in outcome) relay(outcome.refused, { request, socket, seen, redactor });
        else {
          const { opened } = outcome;
          chosen.set(request, outcome);
          let isTaken = false;
          server.handleUpgrade(request, socket, head, (taken) => {
            isTaken = true;
            const device = taken as unknown as LegSocket;
            const service = opened.socket;
            const firstByteMs = baseClock.now() - at;
            const answer = { status: 101, headers: outcome.headers, body: '', firstByteMs };
            const upgraded = seen(concealAnswer(answer, redactor));
            start(request, { device, service, transport: opened.transport }, upgraded, redactor);
          });
          if (!isTaken) opened.socket.terminate();
        }
      };
      const report = (thrown: unknown) => events.emit(bugOf(thrown, aboutRequest(request)));
      const outcome = (made: UpgradeOutcome) =>
        guarded(
          () => answered(made),
          (thrown) => {
            report(thrown);
            sendRawAnswer(socket, ownFailure);
          },
        );
      openUpgradeLeg({ ...deadlines, url, ca: target.ca, headers, device: request.socket }, outcome);
    },
    async close() {
      isClosing = true;
      for (const socket of opening) socket.destroy();
      const all = [...open.values()];
      for (const { joined } of all) joined.close(closeCodes.goingAway, dialect.stream.closes.shutdown.reason);
      const late = baseClock.after(lastCloseMs, () => {
        for (const { joined } of all) for (const side of ['device', 'service'] as const) joined.cut(side);
      });
      await Promise.all(all.map(({ hasEnded }) => hasEnded));
      late.cancel();
    },
  };
}

/** Passes the answer of a target that does not open a stream on to the device, and ends the connection. */
async function relayRefusal(answer: IncomingMessage, socket: Duplex): Promise<void> {
  const status = answer.statusCode ?? 0;
  const lines = [
    `HTTP/1.1 ${status} ${answer.statusMessage || (STATUS_CODES[status] ?? '')}`,
    ...passedHeaders(headerPairs(answer.rawHeaders)).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  // One that hangs up has its answer.
  await pipeline(answer, socket).catch(() => {});
  socket.destroy();
}

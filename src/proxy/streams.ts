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
import { createObservers, type ObservedStream, type ObserveStream } from '../service/control/page-handler.ts';
import { aboutRequest, bugOf, closeAfterBug, runGuarded } from '../service/guard.ts';
import { invalidRequest, refuseRequest } from '../service/http/refusal.ts';
import { addressOf, ownFailure } from '../service/http/service-server.ts';
import { bodyText } from '../wire/body-text.ts';
import { concealAnswer, concealRequest } from '../wire/conceal.ts';
import type { Header, HttpAnswer, Upgrade } from '../wire/exchange.ts';
import { headerPairs } from '../wire/headers.ts';
import { sendRawAnswer } from '../wire/server/http-answer.ts';
import type { Tap } from '../wire/tap.ts';
import { passedHeaders } from './headers.ts';
import { ownerOf } from './judge.ts';
import { LegSocket } from './leg-socket.ts';
import type { ProxyTarget } from './options.ts';
import { sides } from './passage.ts';
import { ProxiedStream, type SharedByStreams } from './proxied-stream.ts';
import { type Deadlines, failureText, refusedByTarget } from './reach-target.ts';
import type { Secrets } from './secrets.ts';
import { keepBeginning } from './token-leg.ts';
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
  /** Takes an admitted upgrade. `url`: the one of the target. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, url: string): void;
  streams(): readonly ProxiedStream[];
  /** Adds a tap to each open stream, as the device sees it, and to each later one until the result is called. */
  observe(createTap: ObserveStream): () => void;
  /** Closes both sides of each stream with 1001, and resolves when all have ended. */
  close(): Promise<void>;
}

/** An upgrade that a device has requested. */
interface Asked {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  askedAt: number;
  /** Turns the answer into evidence of the upgrade. */
  seen: (answer: HttpAnswer) => Upgrade;
  redactor: Redactor;
}

/** When the proxy ends, a side that does not answer the close is cut off after this time. */
const lastCloseMs = 1_000;

export function createProxiedStreams(options: StreamsOptions): ProxiedStreams {
  const streams = createOpenStreams(options);
  const upgrades = createUpgrades(options, streams);
  return {
    streams: streams.list,
    observe: streams.observe,
    upgrade: upgrades.handle,
    close() {
      const ended = streams.close();
      upgrades.close();
      return ended;
    },
  };
}

/** Both ends of a stream that has just opened. */
interface Opened {
  request: IncomingMessage;
  device: LegSocket;
  service: LegSocket;
  /** The connection to the service. */
  transport: Socket;
  upgrade: Upgrade;
  redactor: Redactor;
}

/** The open streams, by number. */
interface OpenStreams extends Pick<ProxiedStreams, 'observe' | 'close'> {
  list(): readonly ProxiedStream[];
  start(opened: Opened): void;
  /** Judges a stream that the target did not open, under a number of its own. */
  refused(upgrade: Upgrade): void;
}

function createOpenStreams(options: StreamsOptions): OpenStreams {
  const { baseClock, events, judge } = options;
  const { reason } = options.dialect.stream.closes.shutdown;
  const open = new Map<number, ProxiedStream>();
  const list = () => [...open.values()];
  const observers = createObservers(() => list().map((stream) => observed(stream, false)));
  let nextId = 1;
  let isClosing = false;

  const begin = (id: number, { request, device, service, transport, upgrade, redactor }: Opened) => {
    const stream = new ProxiedStream({
      ...options,
      ...{ id, upgrade, redactor, remote: addressOf(request) },
      device: { socket: device, transport: request.socket },
      service: { socket: service, transport },
      tap: options.tap?.(id),
      countOf: (name) => list().filter(({ subject }) => subject.device === name).length,
      onEnd() {
        open.delete(id);
        options.onEnded?.(id);
      },
    });
    open.set(id, stream);
    observers.opened(observed(stream, true));
    if (isClosing) stream.joined.close(closeCodes.goingAway, reason);
  };

  return {
    list,
    observe: observers.add,
    start(opened) {
      const id = nextId;
      nextId += 1;
      runGuarded(
        () => begin(id, opened),
        (thrown) => {
          const about = { stream: id, remote: addressOf(opened.request) };
          events.emit(bugOf(thrown, about, { redact: opened.redactor.text }));
          for (const leg of [opened.device, opened.service]) {
            leg.on('error', () => leg.terminate());
            closeAfterBug([leg], (code, why) => leg.closeNow(code, why));
          }
        },
      );
    },
    refused(upgrade) {
      const exchange = { kind: 'stream' as const, upgrade, messages: [], end: undefined };
      judge.ended({
        id: nextId,
        device: undefined,
        owner: ownerOf(undefined),
        isPartial: false,
        hearsSpoiltAudio: false,
        seenBy: () => exchange,
        heard: () => undefined,
        failed() {},
      });
      nextId += 1;
    },
    async close() {
      isClosing = true;
      const all = list();
      for (const { joined } of all) joined.close(closeCodes.goingAway, reason);
      const late = baseClock.after(lastCloseMs, () => {
        for (const { joined } of all) for (const side of sides) joined.cut(side);
      });
      await Promise.all(all.map(({ hasEnded }) => hasEnded));
      late.cancel();
    },
  };
}

function observed({ connection, witness, subject, hasEnded }: ProxiedStream, isNew: boolean): ObservedStream {
  return {
    number: connection.id,
    openForMs: isNew ? 0 : connection.durationMs(),
    give: (tap) => witness.observe(tap, isNew),
    onEnd: (call) => void hasEnded.then(call),
    onThrown: subject.failed,
  };
}

/** Upgrades of devices. Each is first made at the target, and then answered with the target's answer. */
interface Upgrades {
  handle: ProxiedStreams['upgrade'];
  /** Cuts off those that the target has not answered yet. */
  close(): void;
}

function createUpgrades(options: StreamsOptions, streams: OpenStreams): Upgrades {
  const { target, deadlines, baseClock, dialect, events } = options;
  const { server, chosen } = createLegServer(options);
  const opening = new Set<Duplex>();

  const refuse = (request: IncomingMessage, socket: Duplex, failure: VoicectlError) => {
    const about = { dialect, events: events.of.service, path: streamPath, remote: addressOf(request) };
    sendRawAnswer(socket, refuseRequest('unavailable', { ...about, detail: failureText(failure) }));
  };
  const relay = async (refused: IncomingMessage, { request, socket, seen, redactor, askedAt }: Asked) => {
    const firstByteMs = baseClock.now() - askedAt;
    const status = refused.statusCode ?? 0;
    const headers = headerPairs(refused.rawHeaders);
    const body = bodyText({ headers, body: await relayRefusal(refused, socket) });
    const answer = concealAnswer({ status, headers, body, firstByteMs }, redactor);
    const shown = { status, body: answer.body || redactor.text(refused.statusMessage ?? '') };
    events.of.service.emit(refusedByTarget(shown, { path: streamPath, remote: addressOf(request) }));
    streams.refused(seen(answer));
  };
  const accept = (
    { opened, headers, protocol }: Extract<UpgradeOutcome, { opened: unknown }>,
    { request, socket, head, seen, redactor, askedAt }: Asked,
  ) => {
    chosen.set(request, { headers, protocol });
    let isTaken = false;
    // ws writes the head of its answer as text.
    socket.setDefaultEncoding(headEncoding);
    server.handleUpgrade(request, socket, head, (taken) => {
      isTaken = true;
      const answer = { status: 101, headers, body: '', firstByteMs: baseClock.now() - askedAt };
      const upgrade = seen(concealAnswer(answer, redactor));
      const device = taken as unknown as LegSocket;
      const { socket: service, transport } = opened;
      streams.start({ request, device, service, transport, upgrade, redactor });
    });
    if (!isTaken) opened.socket.terminate();
  };
  const answer = async (outcome: UpgradeOutcome, asked: Asked) => {
    // A refusal may take long: its socket stays, for `close`.
    if (!('refused' in outcome)) opening.delete(asked.socket);
    if ('failure' in outcome) refuse(asked.request, asked.socket, outcome.failure);
    else if ('refused' in outcome) await relay(outcome.refused, asked);
    else accept(outcome, asked);
  };

  return {
    handle(request, socket, head, url) {
      const askedAt = baseClock.now();
      const headers = headerPairs(request.rawHeaders);
      const redactor = options.secrets.redactor();
      const concealed = concealRequest({ method: 'GET', url, headers, body: '' }, redactor);
      const tokenIn = tokenPlace(url, request.headers);
      const wallAt = baseClock.wall();
      const seen: Asked['seen'] = (made) => ({
        ...{ at: askedAt, wallAt, answer: made, breakdown: undefined, totalMs: baseClock.now() - askedAt },
        request: concealed,
        ...(tokenIn === undefined ? {} : { tokenIn }),
      });
      const asked = { request, socket, head, seen, redactor, askedAt };
      opening.add(socket);
      socket.once('close', () => opening.delete(socket));
      openUpgradeLeg(
        { ...deadlines, url, ca: target.ca, headers, device: request.socket },
        (outcome) =>
          void answer(outcome, asked).catch((thrown: unknown) => {
            const known = { redact: redactor.text };
            events.emit(bugOf(thrown, aboutRequest(request, known), known));
            sendRawAnswer(socket, ownFailure);
          }),
      );
    },
    close() {
      for (const socket of opening) socket.destroy();
    },
  };
}

/** The target's answer to an upgrade, until the device has been answered. */
interface Chosen {
  headers: readonly Header[];
  protocol: string | undefined;
}

/** Makes the device's end of each stream; its answer is what was `chosen` for the request. */
function createLegServer({ dialect, events }: Pick<StreamsOptions, 'dialect' | 'events'>) {
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
  return { server, chosen };
}

/** Of the head of an answer: the one in which Node reads it. */
const headEncoding = 'latin1';
/** How much of the body of a refusal is kept. */
const keptBytes = 16 * 1024;

/** Passes the target's refusal of a stream on to the device, and ends the connection. Returns the beginning of its body. */
async function relayRefusal(answer: IncomingMessage, socket: Duplex): Promise<Buffer> {
  const kept = keepBeginning(answer, keptBytes);
  const status = answer.statusCode ?? 0;
  const lines = [
    `HTTP/1.1 ${status} ${answer.statusMessage || (STATUS_CODES[status] ?? '')}`,
    ...passedHeaders(headerPairs(answer.rawHeaders)).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, headEncoding);
  // A device that hangs up needs no answer.
  await pipeline(answer, socket).catch(() => {});
  socket.destroy();
  return kept();
}

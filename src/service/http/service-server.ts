import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { atTurnEnd } from '../../kernel/clock.ts';
import { toVoicectlError } from '../../kernel/errors.ts';
import { controlPrefix, metricsPath } from '../../protocol/control-paths.ts';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { errorBody } from '../../protocol/error-body.ts';
import { plainAddress } from '../../wire/addresses.ts';
import {
  type Admission,
  type AdmissionOptions,
  admitRequest,
  maxHeaders,
} from '../../wire/server/admission.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';
import { type OutgoingAnswer, sendAnswer, sendRawAnswer } from '../../wire/server/http-answer.ts';
import { type RequestTarget, readTarget } from '../../wire/server/http-request.ts';
import { inTurn, ServiceResponse } from '../../wire/server/in-turn.ts';
import { createTlsServer, type HandshakeListeners } from '../../wire/server/tls-server.ts';
import type { ControlApi } from '../control/control-api.ts';
import type { EmulatorEvents } from '../events.ts';
import type { Unanswered } from '../faults/token-faults.ts';
import type { UpgradeFaults } from '../faults/upgrade-faults.ts';
import { aboutRequest, bugOf, runGuarded } from '../guard.ts';
import { invalidRequest, type RefusalContext, refuseRequest } from './refusal.ts';

/** How a request ended: with an answer to send, with one that is already sent, or with none. */
export type RequestOutcome = OutgoingAnswer | Unanswered | 'answered';

/** Observes a request while it is handled. */
export interface RequestWatch {
  /** The part of the body that was read. */
  body: string;
  /** Called at the end; undefined: without an answer that is known here. */
  answered(answer: OutgoingAnswer | undefined): void;
}

/** A request whose request line, Host and Origin are accepted. */
export interface AdmittedRequest {
  request: IncomingMessage;
  target: RequestTarget | undefined;
  path: string;
  /** The origin of the page that asks, if a page asks. */
  origin: string | undefined;
  /** For its refusal. */
  about: RefusalContext;
  watch: RequestWatch | undefined;
}

export interface ServiceServerOptions {
  dialect: Dialect;
  /** Events of the device's side. */
  events: EmulatorEvents;
  tls: TlsCertificate | undefined;
  admission: AdmissionOptions;
  control: ControlApi;
  /** Whether a client may scrape the metrics under any name of this service. */
  isScraper(request: IncomingMessage): boolean;
  /** Host names besides loopback under which the control API answers. */
  controlHosts?: readonly string[];
  faults: UpgradeFaults;
  /** The only path on which a WebSocket is opened. Undefined: any. */
  upgradePath?: string;
  /** Observes a request, from before it is admitted. */
  watch?: (request: IncomingMessage) => RequestWatch | undefined;
  /** Answers a request that is not for the control API. */
  answer(admitted: AdmittedRequest, response: ServerResponse): Promise<RequestOutcome>;
  /** Opens a stream, or returns why it is refused. */
  upgrade(admitted: AdmittedRequest, socket: Duplex, head: Buffer): RefusalCause | undefined;
}

/** Who may use the control API: pages and programs of this machine, under a loopback name. */
export const loopbackOnly: AdmissionOptions = {
  allowHosts: [],
  allowOrigins: [],
  boundAddresses: false,
  links: false,
  hostAdvice: 'use an address of this machine, on this machine',
  originAdvice: 'open the page at a loopback address, or use voicectl emulator',
};
const underControl = `${controlPrefix}/`;
/** What a device may send besides a GET for an upgrade. */
export const allowedMethods: [string, string][] = [['Allow', 'POST, OPTIONS']];

/** The HTTP side of a service, emulated or relayed: admission, the control API, upgrades, and the shape of refusals. */
export function createServiceServer(options: ServiceServerOptions): Server {
  const { dialect, events } = options;
  const server = createBareServer(options.tls, {
    onOpened: (opened) => events.emit({ type: 'tls-opened', ...opened }),
    onFailure: (failure) => events.emit({ type: 'tls-failed', ...failure }),
  });
  const respond = (request: IncomingMessage, response: ServerResponse) =>
    runGuarded(
      () => {
        const watch = options.watch?.(request);
        answer(request, response, options, watch)
          .then((outcome) => {
            watch?.answered(typeof outcome === 'string' ? undefined : outcome);
            if (outcome === 'reset') request.socket.resetAndDestroy();
            // Sent after all input is handled, one right after the other: then a client wakes up once for many answers.
            else if (typeof outcome !== 'string') atTurnEnd(sendIfOpen, { response, outcome });
          })
          .catch((thrown) => failRequest(thrown, request, response, events));
      },
      (thrown) => failRequest(thrown, request, response, events),
    );
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    inTurn(request, response, respond);
  };
  server.on('request', onRequest);
  // An unknown `Expect`: Node would answer it with an empty 417.
  server.on('checkExpectation', onRequest);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const onThrown = (thrown: unknown) => {
      events.emit(bugOf(thrown, aboutRequest(request, events), events));
      sendRawAnswer(socket, ownFailure);
    };
    runGuarded(() => {
      admitUpgrade(request, socket, options, (admitted, refuse) =>
        runGuarded(() => {
          const refused = server.listening ? options.upgrade(admitted, socket, head) : 'unavailable';
          if (refused !== undefined) refuse(refused);
        }, onThrown),
      );
    }, onThrown);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const about = { dialect, events, path: request.url ?? '', remote: addressOf(request) };
    sendRawAnswer(socket, { ...refuseRequest('methodNotAllowed', about), headers: allowedMethods });
  });
  // Requests that Node's parser refuses have no request object. Their answer has the service's format too.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else sendRawAnswer(socket, malformed(error.code, options));
  });
  return server;
}

function sendIfOpen({ response, outcome }: { response: ServerResponse; outcome: OutgoingAnswer }): void {
  if (response.destroyed) return;
  try {
    sendAnswer(response, outcome);
  } catch (thrown) {
    response.destroy(thrown as Error);
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ServiceServerOptions,
  watch: RequestWatch | undefined,
): Promise<RequestOutcome> {
  const { dialect, events, controlHosts = [] } = options;
  const target = readTarget(request.url ?? '');
  const isControl = target?.path.startsWith(underControl) === true;
  const isScrape = target?.path === metricsPath && options.isScraper(request);
  const rules = isControl && !isScrape ? controlRules(request, controlHosts) : options.admission;
  const admission = admitRequest(request, target, rules);
  const { path } = admission;
  const about = { dialect, events, path, remote: addressOf(request) };
  if (!admission.ok) return { ...refuseEntry(admission, about), hangUp: true };
  if (!isControl)
    return options.answer({ request, target, path, origin: admission.origin, about, watch }, response);
  await options.control(request, response);
  return 'answered';
}

/** From this machine, an address that it has is a name for itself. */
function controlRules({ socket }: IncomingMessage, allowHosts: readonly string[]): AdmissionOptions {
  return { ...loopbackOnly, allowHosts, boundAddresses: socket.remoteAddress === socket.localAddress };
}

/** The answer if a handler of voicectl throws. */
export const ownFailure: OutgoingAnswer = {
  status: 500,
  body: errorBody('INTERNAL_ERROR', 'voicectl failed: see its output'),
  hangUp: true,
};

/** Ends a request whose handler threw: with 500, if the answer has not begun. */
function failRequest(
  thrown: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  events: EmulatorEvents,
): void {
  // A client that hung up gets no answer.
  const isOurs = !request.socket.destroyed && toVoicectlError(thrown).code === 'internal';
  if (isOurs) events.emit(bugOf(thrown, aboutRequest(request, events), events));
  if (isOurs && !response.headersSent) sendIfOpen({ response, outcome: ownFailure });
  else response.destroy();
}

/** Refuses an upgrade, or calls `upgrade`, which opens the stream or refuses it. */
function admitUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { dialect, events, admission: rules, faults, upgradePath }: ServiceServerOptions,
  upgrade: (admitted: AdmittedRequest, refuse: (cause: RefusalCause) => void) => void,
): void {
  const target = readTarget(request.url ?? '');
  const admission = admitRequest(request, target, { ...rules, links: false });
  const { path } = admission;
  const about = { dialect, events, path, remote: addressOf(request) };
  const refuse = (cause: RefusalCause) => sendRawAnswer(socket, refuseRequest(cause, about));
  const wrong = wrongHandshake(request.headers);
  const message = wrongRequest(request);
  if (!admission.ok) sendRawAnswer(socket, refuseEntry(admission, about));
  else if (message !== undefined) sendRawAnswer(socket, invalidRequest({ case: 'badHttp', message }, about));
  else if (upgradePath !== undefined && path !== upgradePath) refuse('notFound');
  else if (wrong !== undefined) {
    const answer = invalidRequest({ case: 'badHttp', message: wrong }, about);
    sendRawAnswer(socket, { ...answer, headers: [['Sec-WebSocket-Version', protocolVersion]] });
  } else {
    const admitted = { request, target, path, origin: admission.origin, about, watch: undefined };
    faults.pass(socket, () => upgrade(admitted, refuse));
  }
}

/** What is wrong with a request that asks for an upgrade, besides its headers. RFC 6455, section 4.1. */
function wrongRequest(request: IncomingMessage): string | undefined {
  if (request.httpVersion === '1.0') return 'An upgrade needs HTTP/1.1';
  if (request.method !== 'GET') return 'An upgrade needs the method GET';
  return hasBody(request) ? 'An upgrade may not have a body' : undefined;
}

/** RFC 6455, section 4.2.1: ws also speaks a draft of it, version 8. */
const protocolVersion = '13';
const handshakeKey = /^[+/0-9A-Za-z]{22}==$/;
const protocolName = /^[\w!#$%&'*+.^`|~-]+$/;

/** ws refuses these too, but a proxy would open a stream at its target first, or blame the target for its refusal. */
function wrongHandshake(headers: IncomingMessage['headers']): string | undefined {
  const invalid = (name: string) => `Missing or invalid ${name} header`;
  if (headers['sec-websocket-version'] !== protocolVersion) return invalid('Sec-WebSocket-Version');
  if (!handshakeKey.test(headers['sec-websocket-key'] ?? '')) return invalid('Sec-WebSocket-Key');
  const names = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const areValid = names.every((name) => protocolName.test(name)) && new Set(names).size === names.length;
  return areValid ? undefined : 'Invalid Sec-WebSocket-Protocol header';
}

/** Node leaves the body of an upgrade unread: it would be read as frames. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** The answer to a request that is not admitted. */
function refuseEntry({ cause, why }: Admission & { ok: false }, about: RefusalContext): OutgoingAnswer {
  if (cause === 'invalidRequest') return invalidRequest({ case: 'badHttp', message: why }, about);
  return refuseRequest(cause, { ...about, why });
}

/** The answer to a request that Node's parser refuses, by the code of its error. */
function malformed(
  code: string | undefined,
  options: Pick<RefusalContext, 'dialect' | 'events'>,
): OutgoingAnswer {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuseRequest('requestTimeout', options);
  if (code === 'HPE_HEADER_OVERFLOW') return refuseRequest('headersTooLarge', options);
  return invalidRequest({ case: 'badHttp', message: 'The request is not valid HTTP' }, options);
}

/** The address of the device. */
export function addressOf({ socket }: IncomingMessage): string {
  return plainAddress(socket.remoteAddress);
}

/** How often Node looks for late requests: the deadlines below are accurate to within this. */
const checkEveryMs = 500;
/** Headers within 5 s, the whole request within 10 s. */
const headersDeadlineMs = 5_000 - 2 * checkEveryMs;
const requestDeadlineMs = 10_000 - 2 * checkEveryMs;

/** A server with or without TLS: its limits, and no handlers. */
export function createBareServer(
  tls?: TlsCertificate,
  handshakes: HandshakeListeners = { onFailure() {} },
): Server {
  const settings = {
    IncomingMessage: ServiceRequest,
    ServerResponse: ServiceResponse,
    // Otherwise Node answers a request without Host in its own format. `admit` checks for Host.
    requireHostHeader: false,
    connectionsCheckingInterval: checkEveryMs,
    headersTimeout: headersDeadlineMs,
    requestTimeout: requestDeadlineMs,
  };
  const server = tls === undefined ? createServer(settings) : createTlsServer(settings, tls, handshakes);
  // One more than allowed, so that too many differs from just enough.
  server.maxHeadersCount = maxHeaders + 1;
  return server;
}

const offered = Symbol('offered');

/**
 * A request that only WebSocket upgrades. If there is an `upgrade` listener, Node 20 passes it every
 * request that offers any other protocol, with the body unread. Java's HttpClient offers h2c with plain
 * requests, as `curl --http2` does, and an offer may be ignored (RFC 9110, section 7.8).
 */
class ServiceRequest extends IncomingMessage {
  declare private [offered]: boolean | null;

  get upgrade(): boolean {
    const isWebSocket = this.headers.upgrade?.toLowerCase() === 'websocket';
    return Boolean(this[offered]) && (isWebSocket || this.method === 'CONNECT');
  }

  /** Set by Node's parser. */
  set upgrade(value: boolean | null) {
    this[offered] = value;
  }
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { atTurnEnd, type Clock } from '../../kernel/clock.ts';
import { shortText } from '../../kernel/short-text.ts';
import { controlPrefix, pagePath } from '../../protocol/control-paths.ts';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { streamPath, tokenPaths } from '../../protocol/paths.ts';
import { rateLimitHeaderNames, retryAfterHeaderName } from '../../protocol/rate-limit.ts';
import { jsonMediaType, maxTokenRequestBytes } from '../../protocol/token-request.ts';
import type { ControlApi } from '../../service/control/control-api.ts';
import type { EmulatorEvents, SentHeaders } from '../../service/events.ts';
import type { Unanswered } from '../../service/faults/token-faults.ts';
import type { UpgradeFaults } from '../../service/faults/upgrade-faults.ts';
import { invalidRequest, refusal } from '../../service/http/refusal.ts';
import { addressOf, malformed, turnAway } from '../../service/http/rejections.ts';
import { createServiceServer, loopbackOnly } from '../../service/http/service-server.ts';
import { type AdmissionOptions, admit } from '../../wire/server/admission.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';
import { type HttpAnswer, sendAnswer, sendRawAnswer } from '../../wire/server/http-answer.ts';
import { readBody } from '../../wire/server/http-body.ts';
import { inTurn } from '../../wire/server/in-turn.ts';
import { readTarget } from '../../wire/server/request-target.ts';
import type { Tap } from '../../wire/tap.ts';
import type { VoiceEndpoint } from '../streams/voice-endpoint.ts';
import type { TokenEndpoint } from '../tokens/token-endpoint.ts';
import { type WatchedRequest, watchTokenRequest } from './tap-token-request.ts';

export interface HttpServerOptions {
  dialect: Dialect;
  events: EmulatorEvents;
  admission: AdmissionOptions;
  token: TokenEndpoint;
  voice: VoiceEndpoint;
  control: ControlApi;
  /** Host names besides loopback under which the control API answers. */
  controlHosts: readonly string[];
  faults: UpgradeFaults;
  /** Whether there is a page under the control API. */
  hasPage: boolean;
  /** Undefined: plain HTTP. */
  tls: TlsCertificate | undefined;
  clock: Clock;
  /** Gives a tap for each token request. */
  tap: (() => Tap | undefined) | undefined;
}

const underControl = `${controlPrefix}/`;
const allowedMethods: [string, string][] = [['Allow', 'POST, OPTIONS']];

/** The HTTP side of the service: admission, paths, methods and the shape of errors. */
export function createHttpServer(options: HttpServerOptions): Server {
  const { dialect, events, voice, tls } = options;
  const server = createServiceServer(tls, {
    onOpened: (opened) => events.emit({ type: 'tls-opened', ...opened }),
    onFailure: (failure) => events.emit({ type: 'tls-failed', ...failure }),
  });

  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const tap = options.tap !== undefined && asksForToken(request) ? options.tap() : undefined;
    const watched = tap && watchTokenRequest(request, tap, options.clock);
    answer(request, response, options, watched).then(
      (result) => {
        watched?.answered(typeof result === 'string' ? undefined : result);
        if (result === 'reset') request.socket.resetAndDestroy();
        // Sent after all input is handled, one right after the other: then one wake-up of a client serves many answers.
        else if (typeof result !== 'string') atTurnEnd(sendIfOpen, { response, result });
      },
      (thrown) => response.destroy(thrown),
    );
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    inTurn(request, response, respond);
  };
  server.on('request', onRequest);
  // An unknown `Expect`: Node would answer it with an empty 417.
  server.on('checkExpectation', onRequest);

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    takeUpgrade(request, socket, options, () =>
      server.listening ? voice.upgrade(request, socket, head) : 'unavailable',
    );
  });

  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    const about = { dialect, events, path: request.url ?? '', remote: addressOf(request) };
    const refused = refusal('methodNotAllowed', about);
    sendRawAnswer(socket, { ...refused, headers: allowedMethods });
  });

  // Requests that Node's parser refuses have no request object. Their answer has the service's shape too.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    sendRawAnswer(socket, malformed(error.code, options));
  });
  return server;
}

/** Refuses an upgrade, or calls `upgrade`, which opens the stream or returns why it is refused. */
function takeUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { dialect, events, admission, faults }: HttpServerOptions,
  upgrade: () => RefusalCause | undefined,
): void {
  const admitted = admit(request, readTarget(request.url ?? ''), { ...admission, links: false });
  const { path } = admitted;
  const about = { dialect, events, path, remote: addressOf(request) };
  const refuse = (cause: RefusalCause) => sendRawAnswer(socket, refusal(cause, about));
  const message = 'An upgrade needs HTTP/1.1';
  if (!admitted.ok) sendRawAnswer(socket, turnAway(admitted, about));
  else if (request.httpVersion === '1.0')
    sendRawAnswer(socket, invalidRequest({ case: 'badHttp', message }, about));
  else if (path !== streamPath) refuse('notFound');
  else {
    faults.pass(socket, () => {
      const refused = upgrade();
      if (refused !== undefined) refuse(refused);
    });
  }
}

function sendIfOpen({ response, result }: { response: ServerResponse; result: HttpAnswer }): void {
  if (response.destroyed) return;
  try {
    sendAnswer(response, result);
  } catch (thrown) {
    response.destroy(thrown as Error);
  }
}

function asksForToken({ url = '' }: IncomingMessage): boolean {
  return tokenPaths.includes(readTarget(url)?.path ?? '');
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpServerOptions,
  watched: WatchedRequest | undefined,
): Promise<HttpAnswer | Unanswered | 'answered'> {
  const { dialect, events, admission, token } = options;
  const target = readTarget(request.url ?? '');
  const isControl = target?.path.startsWith(underControl) === true;
  const admitted = admit(
    request,
    target,
    isControl ? { ...loopbackOnly, allowHosts: options.controlHosts } : admission,
  );
  const { path } = admitted;
  const about = { dialect, events, path, remote: addressOf(request) };
  if (!admitted.ok) return { ...turnAway(admitted, about), hangUp: true };
  if (isControl) {
    await options.control(request, response);
    return 'answered';
  }
  if (admitted.origin !== undefined) allowOrigin(response, admitted.origin);

  const refuse = (cause: RefusalCause) => refusal(cause, about);
  if (path === streamPath)
    return { ...refuse('upgradeRequired'), headers: [['Upgrade', 'websocket']], hangUp: true };
  if (path === '/' && (request.method === 'GET' || request.method === 'HEAD')) {
    const { welcome } = await import('./welcome.ts');
    return welcome(request.headers.accept, options.hasPage);
  }
  if (path === controlPrefix && request.method === 'GET' && options.hasPage)
    return { status: 308, body: '', headers: [['Location', pagePath]] };
  if (!tokenPaths.includes(path)) return { ...refuse('notFound'), hangUp: true };
  if (request.method === 'OPTIONS') {
    response.writeHead(204, allowedMethods.flat()).end();
    return 'answered';
  }
  const sent = sentHeaders(request);
  const refuseToken = (cause: RefusalCause) => refusal(cause, { ...about, sent });
  if (request.method !== 'POST') {
    return { ...refuseToken('methodNotAllowed'), headers: allowedMethods, hangUp: true };
  }
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== jsonMediaType) return { ...refuseToken('unsupportedMediaType'), hangUp: true };
  const body = await readBody(request, maxTokenRequestBytes);
  if (body === undefined) return { ...refuseToken('bodyTooLarge'), hangUp: true };
  if (watched !== undefined) watched.body = Buffer.from(body).toString();
  return token(body, about.remote, sent);
}

/** For the journal: short, since a client may send anything. */
function sentHeaders({ headers }: IncomingMessage): SentHeaders {
  const { 'content-type': contentType, accept, 'user-agent': userAgent } = headers;
  return {
    ...(contentType === undefined ? {} : { contentType: shortText(contentType) }),
    ...(accept === undefined ? {} : { accept: shortText(accept) }),
    ...(userAgent === undefined ? {} : { userAgent: shortText(userAgent) }),
  };
}

/** Lets only the page that asked read the answer; never `*`. */
function allowOrigin(response: ServerResponse, origin: string): void {
  const exposed = [...Object.values(rateLimitHeaderNames), retryAfterHeaderName];
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Vary', 'Origin');
  response.setHeader('Access-Control-Allow-Methods', 'POST, OPTIONS');
  response.setHeader('Access-Control-Allow-Headers', 'Content-Type, Accept');
  response.setHeader('Access-Control-Expose-Headers', exposed.join(', '));
}

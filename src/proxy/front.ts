import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { controlPrefix } from '../protocol/control-paths.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { serviceUrl } from '../protocol/paths.ts';
import type { ControlApi } from '../service/control/control-api.ts';
import type { UpgradeFaults } from '../service/faults/upgrade-faults.ts';
import { refusal } from '../service/http/refusal.ts';
import { addressOf, malformed, turnAway } from '../service/http/rejections.ts';
import { createServiceServer, loopbackOnly } from '../service/http/service-server.ts';
import { type AdmissionOptions, admit } from '../wire/server/admission.ts';
import type { TlsCertificate } from '../wire/server/certificate.ts';
import { sendAnswer, sendRawAnswer } from '../wire/server/http-answer.ts';
import { readBody } from '../wire/server/http-body.ts';
import { inTurn } from '../wire/server/in-turn.ts';
import { type RequestTarget, readTarget } from '../wire/server/request-target.ts';
import type { ProxyTarget } from './options.ts';
import type { ProxyEvents } from './proxy-events.ts';
import type { ProxiedStreams } from './streams.ts';
import type { PassRequest } from './token-requests.ts';

export interface FrontOptions {
  target: ProxyTarget;
  dialect: Dialect;
  events: ProxyEvents;
  admission: AdmissionOptions;
  tls: TlsCertificate | undefined;
  control: ControlApi;
  pass: PassRequest;
  faults: UpgradeFaults;
  streams: ProxiedStreams;
}

/** Far more than any request of the service needs. */
const maxBodyBytes = 1024 * 1024;

/** The side of a proxy that devices see: admission, then everything goes to the target but the control API. */
export function createFront(options: FrontOptions): Server {
  const { dialect, events, admission, tls, target, streams } = options;
  const own = { dialect, events: events.of.device };
  const server = createServiceServer(tls, {
    onOpened: (opened) => events.of.device.emit({ type: 'tls-opened', ...opened }),
    onFailure: (failure) => events.of.device.emit({ type: 'tls-failed', ...failure }),
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    inTurn(request, response, (req, res) => {
      answer(req, res, options).catch((thrown) => res.destroy(thrown));
    });
  };
  server.on('request', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const wanted = readTarget(request.url ?? '');
    const admitted = admit(request, wanted, { ...admission, links: false });
    const about = { ...own, path: admitted.path, remote: addressOf(request) };
    if (!admitted.ok) sendRawAnswer(socket, turnAway(admitted, about));
    else if (!server.listening) sendRawAnswer(socket, refusal('unavailable', about));
    else
      options.faults.pass(socket, () => streams.upgrade(request, socket, head, urlOn(target.wsUrl, wanted)));
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    // One target only: this is no proxy for others.
    const about = { ...own, path: request.url ?? '', remote: addressOf(request) };
    sendRawAnswer(socket, refusal('methodNotAllowed', about));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else sendRawAnswer(socket, malformed(error.code, own));
  });
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { target, dialect, events, admission, control, pass }: FrontOptions,
): Promise<void> {
  const wanted = readTarget(request.url ?? '');
  const isControl = wanted?.path.startsWith(`${controlPrefix}/`) === true;
  const admitted = admit(request, wanted, isControl ? loopbackOnly : admission);
  const about = { dialect, events: events.of.device, path: admitted.path, remote: addressOf(request) };
  if (!admitted.ok) {
    sendAnswer(response, { ...turnAway(admitted, about), hangUp: true });
    return;
  }
  if (isControl) {
    await control(request, response);
    return;
  }
  const body = await readBody(request, maxBodyBytes);
  if (body === undefined) sendAnswer(response, { ...refusal('bodyTooLarge', about), hangUp: true });
  else await pass(request, response, { url: urlOn(target.baseUrl, wanted), path: admitted.path, body });
}

/** The same path and query on the target. */
function urlOn(base: string, wanted: RequestTarget | undefined): string {
  const { path = '/', query = '' } = wanted ?? {};
  return serviceUrl(base, query === '' ? path : `${path}?${query}`);
}

import { type ClientRequest, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { shortText } from '../kernel/short-text.ts';
import type { RefusalCause } from '../protocol/dialect.ts';
import { readError } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { EmulatorEventBody } from '../service/events.ts';
import type { HttpRequest } from '../wire/exchange.ts';

/** For DNS, TCP and TLS together. A device should learn within a second that the target cannot be reached. */
const reachMs = 900;

export interface Deadlines {
  clock: Clock;
  /** How long the target may take to answer. */
  answerMs: number;
}

/** What the device is told of a target that was not reached. */
export function failureText({ message, hint }: VoicectlError): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}

export interface TargetRequest extends Omit<HttpRequest, 'body'> {
  ca: string | undefined;
}

/** The path and query of an address as they are written. `URL` would change them: `/a/../b` to `/b`. */
export function writtenPath(url: string): string {
  const at = url.indexOf('/', url.indexOf('://') + 3);
  return at < 0 ? '/' : url.slice(at);
}

/** Starts a request on a connection of its own. Follows no redirects, and adds no headers except Host and Connection. */
export function startRequest({ url, method, headers, ca }: TargetRequest): ClientRequest {
  const { protocol, host } = new URL(url);
  const all = [['Host', host], ...headers, ['Connection', 'close']] as const;
  const path = writtenPath(url);
  const options: RequestOptions = { method, path, agent: false, ca, headers: all.flat() };
  // Only the flat list keeps order, spelling and repetition. The types of Node 20 do not know it.
  return protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
}

/**
 * Destroys a request with `timed-out` if the target is not reached within `reachMs`, or has not begun to answer
 * within `answerMs` after that. Call the result when it answers.
 */
export function limitRequest(
  request: ClientRequest,
  host: string,
  { clock, answerMs }: Deadlines,
): () => void {
  const fail = (what: string, ms: number) => () =>
    request.destroy(new VoicectlError('timed-out', `${host} ${what} within ${ms / 1000} s`));
  let timer: ClockTimer = clock.after(reachMs, fail('could not be reached', reachMs));
  const reached = () => {
    timer.cancel();
    timer = clock.after(answerMs, fail('did not answer', answerMs));
  };
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) reached();
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', reached);
  });
  request.once('close', () => timer.cancel());
  return () => timer.cancel();
}

const causes: Readonly<Record<number, RefusalCause>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  405: 'methodNotAllowed',
  408: 'requestTimeout',
  413: 'bodyTooLarge',
  415: 'unsupportedMediaType',
  426: 'upgradeRequired',
  429: 'rateLimited',
  431: 'headersTooLarge',
  503: 'unavailable',
};

/** The event for an answer of the service that is a refusal. */
export function refusedByTarget(
  { status, body }: { status: number; body: string },
  about: { device?: string; path?: string; remote?: string },
): EmulatorEventBody & { type: 'request-refused' } {
  const { code, message } = readError(parseJson(body));
  return {
    type: 'request-refused',
    cause: causes[status] ?? 'invalidRequest',
    status,
    code: code ?? '',
    message: message ?? shortText(body),
    ...about,
  };
}

import type { Dispatcher } from 'undici';
import errors from 'undici/lib/core/errors.js';
import Client from 'undici/lib/dispatcher/client.js';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { createDeferred } from '../../kernel/promises.ts';
import type { Redactor } from '../../kernel/redact.ts';
import type { Header, HttpAnswer, HttpExchange, HttpRequest } from '../exchange.ts';
import { headerPairs, headerValue } from '../headers.ts';
import type { Tap } from '../tap.ts';
import { type BodyParts, collectBody } from './body.ts';
import { connectionError } from './connection-error.ts';

/** What the calls to a service have in common. */
export interface ClientLeg {
  /** PEM certificates to trust instead of the built-in authorities. */
  ca?: string | undefined;
  clock: Clock;
  signal: AbortSignal;
  /** Removes keys and tokens from all reports. */
  redactor: Redactor;
  /** Observes the traffic, and may slow sending down. */
  tap?: Tap | undefined;
}

/** How a leg reaches the service, and how long it waits. */
export interface HttpLeg extends Pick<ClientLeg, 'ca' | 'clock' | 'signal'> {
  /** For the whole request, from connecting to the last byte: a service may send slowly. Default 15 s. */
  timeoutMs?: number | undefined;
}

/** The result of one request. With both an answer and a failure, the answer was cut or too long. */
export interface HttpOutcome extends Pick<HttpExchange, 'at' | 'wallAt' | 'answer' | 'totalMs'> {
  failure: VoicectlError | undefined;
}

const connectTimeoutMs = 10_000;
const answerTimeoutMs = 15_000;
/** Nobody sees it. Made only once, because capturing its stack trace takes as long as opening a socket. */
export const requestFinished = new Error('finished');

/** Whether a status means success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Sends one request on a new connection and reads the whole answer. Does not follow redirects:
 * the body may hold a key. Throws only the reason of an aborted signal; failures of the service are results.
 */
export async function sendRequest(sent: HttpRequest, leg: HttpLeg): Promise<HttpOutcome> {
  const { clock, signal, ca, timeoutMs = answerTimeoutMs } = leg;
  signal.throwIfAborted();
  const { origin, pathname, search, host } = new URL(sent.url);
  // The deadline below replaces undici's own timers, which do not follow our clock.
  const client = new Client(origin, {
    connect: { timeout: connectTimeoutMs, ca },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const [at, wallAt] = [clock.now(), clock.wall()];
  const body = collectBody(host);
  let head: Omit<HttpAnswer, 'body'> | undefined;
  const ended = createDeferred<unknown>();
  const abandon = () => ended.resolve(signal.reason);
  const timer = clock.after(timeoutMs, () => ended.resolve(notAnswered(host, timeoutMs)));
  signal.addEventListener('abort', abandon, { once: true });
  try {
    // Uses neither a stream for the body nor undici's own signals: they take half the time of a request.
    client.dispatch(
      {
        method: sent.method as Dispatcher.HttpMethod,
        path: pathname + search,
        headers: sent.headers.flat(),
        ...(sent.body === '' ? {} : { body: sent.body }),
      },
      {
        onRequestStart() {},
        onResponseStart({ rawHeaders }, status) {
          if (status >= 200) head = { status, headers: rawPairs(rawHeaders), firstByteMs: clock.now() - at };
        },
        onResponseData: (_, chunk) => body.add(chunk),
        onResponseEnd: () => ended.resolve(undefined),
        onResponseError: (_, error) => ended.resolve(error),
      },
    );
    const thrown = await ended.promise;
    const totalMs = clock.now() - at;
    signal.throwIfAborted();
    const answer = head && { ...head, body: await textOf(head, body) };
    return {
      at,
      wallAt,
      answer,
      failure: thrown === undefined ? undefined : toFailure(thrown, host, head !== undefined),
      totalMs,
    };
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', abandon);
    await client.destroy(requestFinished);
  }
}

/** Decodes a body that the service has encoded, which it may do although nobody asked for it. */
async function textOf({ headers }: Pick<HttpAnswer, 'headers'>, body: BodyParts): Promise<string> {
  if (headerValue(headers, 'Content-Encoding') === undefined) return body.text();
  return (await import('../body-text.ts')).bodyText({ headers, body: body.bytes() });
}

function notAnswered(host: string, ms: number): VoicectlError {
  return new VoicectlError('timed-out', `${host} did not answer within ${ms / 1000} s`);
}

function toFailure(thrown: unknown, host: string, hasBegun: boolean): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  if (thrown instanceof errors.HTTPParserError || thrown instanceof errors.HeadersOverflowError) {
    const text = `${host} did not answer with valid HTTP: ${thrown.message}`;
    return new VoicectlError('protocol-violation', text, { cause: thrown });
  }
  if (hasBegun)
    return new VoicectlError('protocol-violation', `The answer from ${host} is cut off`, { cause: thrown });
  return connectionError(thrown, host);
}

/** undici's raw headers: a flat list of names and values, which its types do not include. */
function rawPairs(raw: unknown): Header[] {
  return headerPairs((raw as (string | Buffer)[]).map(String));
}

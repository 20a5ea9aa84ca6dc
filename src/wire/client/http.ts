import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import errors from 'undici/lib/core/errors.js';
import Client from 'undici/lib/dispatcher/client.js';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';
import { readJsonBody } from './body.ts';
import { connectionError } from './connection-error.ts';
import { trusting } from './trusting.ts';

export interface HttpResult {
  status: number;
  /** By lower-case name; repeated headers joined with a comma. */
  headers: Record<string, string>;
  /** The parsed body; undefined where it is not JSON. */
  json: unknown;
  firstByteMs: number;
}

const connectTimeoutMs = 10_000;
/** For everything, from connecting to the last byte: a service may also drip. */
const answerTimeoutMs = 15_000;

/** Whether a status says that the request was granted. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Posts JSON and reads the whole answer, whatever its status. Redirects are not followed: the body
 * holds a key. Throws `VoicectlError`, or the signal's reason.
 */
export async function postJson(
  url: string,
  body: unknown,
  { clock, signal, ca }: { clock: Clock; signal: AbortSignal; ca?: string | undefined },
): Promise<HttpResult> {
  signal.throwIfAborted();
  const { origin, pathname, search, host } = new URL(url);
  // The deadline below takes the place of undici's own timers, which no clock moves.
  const client = new Client(origin, {
    connect: { timeout: connectTimeoutMs, ...trusting(ca) },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const deadline = new AbortController();
  const timer = clock.after(answerTimeoutMs, () => deadline.abort(notAnswered(host)));
  const ending = AbortSignal.any([signal, deadline.signal]);
  const startedAt = clock.now();
  try {
    const response = await request.call(client, {
      method: 'POST',
      path: pathname + search,
      headers: { 'Content-Type': jsonMediaType, Accept: jsonMediaType },
      body: JSON.stringify(body),
      signal: ending,
    });
    const firstByteMs = clock.now() - startedAt;
    const { statusCode: status } = response;
    const json = await readJsonBody(response.body, host).catch((thrown) => {
      // A refusal is one whatever its body is, also where that is cut, endless, or does not come.
      if (isSuccess(status) || signal.aborted) throw thrown;
    });
    return { status, headers: flatten(response.headers), json, firstByteMs };
  } catch (thrown) {
    if (ending.aborted) throw ending.reason;
    throw thrown instanceof VoicectlError ? thrown : requestError(thrown, host);
  } finally {
    timer.cancel();
    await client.destroy();
  }
}

function notAnswered(host: string): VoicectlError {
  return new VoicectlError('timed-out', `${host} did not answer within ${answerTimeoutMs / 1000} s`);
}

function requestError(thrown: unknown, host: string): VoicectlError {
  if (thrown instanceof errors.HTTPParserError || thrown instanceof errors.HeadersOverflowError) {
    const text = `${host} did not answer in HTTP: ${thrown.message}`;
    return new VoicectlError('protocol-violation', text, { cause: thrown });
  }
  return connectionError(thrown, host);
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
}

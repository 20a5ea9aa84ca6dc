import { Client, type Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { VoicectlError } from '../errors.ts';
import { jsonMediaType } from '../protocol/token-request.ts';
import { connectionError } from './connection-error.ts';

export interface HttpResult {
  status: number;
  /** By lower-case name; repeated headers joined with a comma. */
  headers: Record<string, string>;
  /** The parsed body; undefined where it is not JSON. */
  json: unknown;
  firstByteMs: number;
}

/** Far more than any token response. */
const maxBodyBytes = 64 * 1024;
const connectTimeoutMs = 10_000;
const answerTimeoutMs = 15_000;

/**
 * Posts JSON and reads the whole answer, whatever its status. Redirects are not followed: the body
 * holds a key. Throws `VoicectlError`, or the signal's reason.
 */
export async function postJson(
  url: string,
  body: unknown,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<HttpResult> {
  signal.throwIfAborted();
  const { origin, pathname, search, host } = new URL(url);
  const client = new Client(origin, {
    connect: { timeout: connectTimeoutMs },
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
    maxResponseSize: maxBodyBytes,
  });
  const startedAt = clock.now();
  try {
    const response = await client.request({
      method: 'POST',
      path: pathname + search,
      headers: { 'Content-Type': jsonMediaType, Accept: jsonMediaType },
      body: JSON.stringify(body),
      signal,
    });
    const firstByteMs = clock.now() - startedAt;
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: flatten(response.headers),
      json: parseJson(text),
      firstByteMs,
    };
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw requestError(thrown, host);
  } finally {
    await client.destroy();
  }
}

function requestError(thrown: unknown, host: string): VoicectlError {
  const code = (thrown as { code?: string }).code;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new VoicectlError('timed-out', `${host} did not answer within ${answerTimeoutMs / 1000} s`, {
      cause: thrown,
    });
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new VoicectlError('protocol-violation', `${host} answered with more than ${maxBodyBytes} bytes`, {
      cause: thrown,
    });
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

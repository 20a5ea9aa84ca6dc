import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { VoicectlError } from '../kernel/errors.ts';
import { connectionError } from '../wire/client/connection-error.ts';
import type { Breakdown, Header, HttpAnswer, HttpRequest, Side } from '../wire/exchange.ts';
import { headerPairs } from '../wire/headers.ts';
import { passedHeaders } from './headers.ts';
import { type Deadlines, limitRequest, startRequest } from './reach-target.ts';

/** One HTTP request of a device, read whole. `url`: on the target. */
export interface DeviceRequest extends Omit<HttpRequest, 'body'> {
  body: Buffer;
}

/** The answer of the target, whole or cut. */
export interface TargetAnswer extends Omit<HttpAnswer, 'body'> {
  /** The beginning of the body, at most 2 MiB. */
  body: Buffer;
  totalMs: number;
  /** Why it is incomplete, and which side ended it. */
  failure: (Breakdown & { by: Side }) | undefined;
}

export interface TokenLegOptions extends Deadlines {
  ca: string | undefined;
}

/** How much of a body is read: a token may be long. */
const keptBytes = 2 * 1024 * 1024;
const ownHeaders = ['host', 'content-length'];
/** A request of any other method has a length, even without a body (RFC 9110, section 8.6): Node would send chunks. */
const withoutLength: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * Sends a request to the target, with its body byte for byte. `gone` aborts when the device disconnects. Throws
 * `connect-failed`, `tls-failed`, `timed-out`.
 */
export function askTarget(
  { method, url, headers, body }: DeviceRequest,
  { ca, ...deadlines }: TokenLegOptions,
  gone: AbortSignal,
): Promise<IncomingMessage> {
  const { host } = new URL(url);
  const hasLength =
    body.length > 0 ||
    !withoutLength.has(method) ||
    headers.some(([name]) => name.toLowerCase() === 'content-length');
  const length: Header[] = hasLength ? [['Content-Length', String(body.length)]] : [];
  const all = [...passedHeaders(headers, ownHeaders), ...length];
  return new Promise((resolve, reject) => {
    const request = startRequest({ method, url, headers: all, ca });
    const answered = limitRequest(request, host, deadlines);
    const hangUp = () => request.destroy();
    gone.addEventListener('abort', hangUp, { once: true });
    request.once('close', () => gone.removeEventListener('abort', hangUp));
    request.once('response', (response) => {
      answered();
      resolve(response);
    });
    // 101 has no body and no end: the device would wait forever.
    request.once('upgrade', (_answer, socket: Duplex) => {
      answered();
      socket.destroy();
      reject(switched(host));
    });
    // A broken answer is reported by its own stream.
    request.on('error', (thrown) => reject(failureOf(thrown, host)));
    request.end(body);
  });
}

function switched(host: string): VoicectlError {
  return new VoicectlError('protocol-violation', `${host} answered 101 to a request that is not an upgrade`);
}

function failureOf(thrown: Error, host: string): VoicectlError {
  return thrown instanceof VoicectlError ? thrown : connectionError(thrown, host);
}

/** Reads the answer of the target whole. Throws `stream-broken`, and `protocol-violation` if it is too long to be kept. */
export async function readAnswer(
  answer: IncomingMessage,
  { clock }: Pick<Deadlines, 'clock'>,
  startedAt: number,
): Promise<TargetAnswer> {
  const firstByteMs = clock.now() - startedAt;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(answer)) {
    bytes += chunk.length;
    if (bytes > keptBytes)
      throw new VoicectlError(
        'protocol-violation',
        `The target’s response is longer than ${keptBytes / 1024 / 1024} MiB`,
      );
    chunks.push(chunk);
  }
  const headers = headerPairs(answer.rawHeaders);
  const status = answer.statusCode ?? 0;
  const body = Buffer.concat(chunks);
  return { status, headers, body, firstByteMs, totalMs: clock.now() - startedAt, failure: undefined };
}

async function* chunksOf(answer: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>;
  } catch {
    throw new VoicectlError('stream-broken', brokenOff);
  }
}

const brokenOff = 'The target’s response broke off';
const disconnected = 'The device disconnected before the end of the response';

/**
 * Passes the answer of the target on as it arrives: status, headers and body. Resolves when it has ended. If it breaks off,
 * it breaks off for the device too.
 */
export async function relayAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  { clock }: Deadlines,
  startedAt: number,
): Promise<TargetAnswer> {
  const headers = headerPairs(answer.rawHeaders);
  const status = answer.statusCode ?? 0;
  const firstByteMs = clock.now() - startedAt;
  // Node would add its own.
  response.sendDate = false;
  response.writeHead(status, answer.statusMessage, passedHeaders(headers).flat());
  const { body, failure } = await passBody(answer, response);
  return { status, headers, body, firstByteMs, totalMs: clock.now() - startedAt, failure };
}

/** Keeps the first `most` bytes of a body that is passed on. Call the result for them. */
export function keepBeginning(answer: IncomingMessage, most: number): () => Buffer {
  const kept: Buffer[] = [];
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    if (bytes < most) kept.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(kept).subarray(0, most);
}

function passBody(
  answer: IncomingMessage,
  response: ServerResponse,
): Promise<Pick<TargetAnswer, 'body' | 'failure'>> {
  const kept = keepBeginning(answer, keptBytes);
  return new Promise((resolve) => {
    const settle = (failure?: TargetAnswer['failure']) => resolve({ body: kept(), failure });
    const breakOff = (by: Side, message: string) => settle({ by, code: 'stream-broken', message });
    answer.on('data', (chunk: Buffer) => {
      if (!response.write(chunk)) answer.pause();
    });
    response.on('drain', () => answer.resume());
    answer.once('end', () => {
      response.end();
      settle();
    });
    const cut = () => {
      // If the device has disconnected, the request to the target is destroyed too.
      if (response.destroyed) breakOff('device', disconnected);
      else breakOff('service', brokenOff);
      response.destroy();
    };
    answer.once('error', cut);
    answer.once('aborted', cut);
    response.once('close', () => {
      answer.destroy();
      cut();
    });
  });
}

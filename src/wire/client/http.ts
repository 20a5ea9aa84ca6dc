import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { Header, HttpAnswer, HttpRequest } from '../exchange.ts';
import { readBody } from './body.ts';
import { connectionError } from './connection-error.ts';
import { type StartedRequest, startRequest } from './start-request.ts';

/** How a leg reaches the service, and how long it waits. */
export interface HttpLeg {
  clock: Clock;
  signal: AbortSignal;
  /** PEM certificates to trust instead of the built-in authorities. */
  ca?: string | undefined;
  /** For the whole request, from connecting to the last byte: a service may send slowly. Default 15 s. */
  timeoutMs?: number | undefined;
}

/** The result of one request. With both an answer and a failure, the answer was cut or too long. */
export interface HttpOutcome {
  /** When the request began, on the leg's clock and on the wall clock. */
  at: number;
  wallAt: number;
  answer: HttpAnswer | undefined;
  failure: VoicectlError | undefined;
  totalMs: number;
}

const connectTimeoutMs = 10_000;
const answerTimeoutMs = 15_000;

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
  const url = new URL(sent.url);
  const { host } = url;
  const [at, wallAt] = [clock.now(), clock.wall()];
  let ended: VoicectlError | undefined;
  const outcome = (answer?: HttpAnswer, thrown?: unknown): HttpOutcome => {
    const totalMs = clock.now() - at;
    signal.throwIfAborted();
    const failure = thrown === undefined ? undefined : (ended ?? toFailure(thrown, host));
    return { at, wallAt, answer, failure, totalMs };
  };
  let started: StartedRequest | undefined;
  const timers: ClockTimer[] = [];
  const endAfter = (ms: number, why: () => VoicectlError) => {
    const timer = clock.after(ms, () => {
      ended ??= why();
      started?.end();
    });
    timers.push(timer);
    return timer;
  };
  try {
    const connecting = endAfter(connectTimeoutMs, () => notConnected(host));
    endAfter(timeoutMs, () => notAnswered(host, timeoutMs));
    started = await startRequest({
      ...{ method: sent.method, url, headers: sent.headers, ca, signal },
      body: sent.body === '' ? undefined : sent.body,
      onConnect: () => connecting.cancel(),
    });
    const response = await started.answer;
    const firstByteMs = clock.now() - at;
    const { text, failure } = await readBody(response, host);
    const status = response.statusCode ?? 0;
    return outcome({ status, headers: pairs(response.rawHeaders), body: text, firstByteMs }, failure);
  } catch (thrown) {
    return outcome(undefined, thrown);
  } finally {
    for (const timer of timers) timer.cancel();
    started?.end();
  }
}

function notConnected(host: string): VoicectlError {
  return connectionError(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' }), host);
}

function notAnswered(host: string, ms: number): VoicectlError {
  return new VoicectlError('timed-out', `${host} did not answer within ${ms / 1000} s`);
}

function toFailure(thrown: unknown, host: string): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  if (isOfParser(thrown)) {
    const text = `${host} did not answer in HTTP: ${thrown.message}`;
    return new VoicectlError('protocol-violation', text, { cause: thrown });
  }
  return connectionError(thrown, host);
}

/** Node's parser tells what it cannot read with codes of its own. */
function isOfParser(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('HPE_');
}

/** Node's raw headers are a flat list of names and values. */
function pairs(flat: readonly string[]): Header[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : []));
}

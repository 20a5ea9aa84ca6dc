import type { Clock } from '../../kernel/clock.ts';
import { type ApiVersion, serviceUrl, tokenPath } from '../../protocol/paths.ts';
import { readMoment } from '../../protocol/rate-limit.ts';
import { postJson } from './http.ts';

export interface Reached {
  status: number;
  /** To the first byte of the answer. */
  ms: number;
  /** How far the service's clock is ahead of ours, to about a second; undefined where it does not tell the time. */
  skewMs: number | undefined;
}

/** The header tells whole seconds: on average it is half of one old. */
const dateResolutionMs = 1_000;

/**
 * Asks the token endpoint for nothing: whatever it answers, it is there. No key is sent, and no request of a device
 * counted. Throws as `requestToken` does where there is no answer.
 */
export async function reachService({
  baseUrl,
  apiVersion,
  ca,
  clock,
  signal,
}: {
  baseUrl: string;
  apiVersion: ApiVersion | undefined;
  /** As for `requestToken`. */
  ca: string | undefined;
  clock: Clock;
  signal: AbortSignal;
}): Promise<Reached> {
  const { status, headers, firstByteMs } = await postJson(
    serviceUrl(baseUrl, tokenPath(apiVersion)),
    {},
    { ca, clock, signal },
  );
  const theirs = readMoment(headers.date, clock.wall());
  const skewMs =
    theirs === undefined ? undefined : theirs + dateResolutionMs / 2 - clock.wall() + firstByteMs / 2;
  return { status, ms: firstByteMs, skewMs };
}

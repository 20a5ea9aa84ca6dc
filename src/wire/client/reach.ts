import { type ApiVersion, serviceUrl, streamPath, tokenPath } from '../../protocol/paths.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';
import type { HttpRequest } from '../exchange.ts';
import { dateOf } from '../headers.ts';
import { type HttpLeg, sendRequest } from './http.ts';

export interface Reached {
  status: number;
  /** From the beginning of the request to the first byte of the answer. */
  ms: number;
  /** How far the service's clock is ahead of ours, to about a second; undefined if it does not send the time. */
  skewMs: number | undefined;
}

/** The Date header has whole seconds: on average it is half a second old. */
const dateResolutionMs = 1_000;

/**
 * Sends a token request with an empty JSON object: any answer shows that the service is reachable. It has no key, and counts
 * against no device's limit. Throws `connect-failed`, `tls-failed`, `timed-out` or `protocol-violation` if no answer arrives.
 */
export async function reachService({
  baseUrl,
  apiVersion,
  ...leg
}: HttpLeg & { baseUrl: string; apiVersion: ApiVersion | undefined }): Promise<Reached> {
  const headers = [['Content-Type', jsonMediaType]] as const;
  const url = serviceUrl(baseUrl, tokenPath(apiVersion));
  return reach({ method: 'POST', url, headers, body: '{}' }, leg);
}

/** The same for the address of streams, with a request that is not an upgrade. */
export async function reachStreams({ wsUrl, ...leg }: HttpLeg & { wsUrl: string }): Promise<Reached> {
  const url = serviceUrl(wsUrl.replace(/^ws/, 'http'), streamPath);
  return reach({ method: 'GET', url, headers: [], body: '' }, leg);
}

async function reach(request: HttpRequest, leg: HttpLeg): Promise<Reached> {
  const { clock } = leg;
  const { answer, failure } = await sendRequest(request, leg);
  if (answer === undefined) throw failure;
  const { status, firstByteMs } = answer;
  const theirs = dateOf(answer.headers);
  const skewMs =
    theirs === undefined ? undefined : theirs + dateResolutionMs / 2 - clock.wall() + firstByteMs / 2;
  return { status, ms: firstByteMs, skewMs };
}

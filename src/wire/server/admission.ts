import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { shortText } from '../../kernel/short-text.ts';
import { isLoopbackHost } from '../../protocol/loopback.ts';
import { plainAddress } from '../addresses.ts';
import { type RequestTarget, readHost } from './http-request.ts';

export interface AdmissionOptions {
  /** Host names that are allowed besides loopback. */
  allowHosts: readonly string[];
  /** Origins that are allowed besides loopback ones. */
  allowOrigins: readonly string[];
  /** Whether a bound address is allowed as the host name. */
  boundAddresses: boolean;
  /** Whether a link on a page of another site may lead here. */
  links: boolean;
  /** What a host, and the origin of a page, that is not allowed is told. Default: the flag that allows it. */
  hostAdvice?: string;
  originAdvice?: string;
}

export type Admission =
  | { ok: true; path: string; origin: string | undefined }
  | { ok: false; path: string; cause: 'invalidRequest' | 'forbidden' | 'headersTooLarge'; why: string };

type Refused = Omit<Admission & { ok: false }, 'path'>;

/** More headers than any device sends. */
export const maxHeaders = 100;
const hostHeader = 'host';

/**
 * Decides from the request line and the headers alone whether to read a request. Refuses web pages of other sites: those
 * whose host name resolves to this machine (DNS rebinding), and those that send requests here.
 */
export function admitRequest(
  request: IncomingMessage,
  target: RequestTarget | undefined,
  options: AdmissionOptions,
): Admission {
  const path = target?.path ?? '';
  const refused =
    shapeProblem(request, target) ?? hostProblem(request, target, options) ?? pageProblem(request, options);
  return refused === undefined ? { ok: true, path, origin: request.headers.origin } : { ...refused, path };
}

function shapeProblem(request: IncomingMessage, target: RequestTarget | undefined): Refused | undefined {
  const { rawHeaders, httpVersion } = request;
  if (rawHeaders.length / 2 > maxHeaders)
    return { ok: false, cause: 'headersTooLarge', why: `More than ${maxHeaders} headers` };
  // Node's parser also accepts the first line of HTTP/2.0 and 0.9.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return invalid('The request is not HTTP/1.1 or 1.0');
  // Node accepts a duplicate Host and keeps the first; only the raw headers show both.
  if (countHosts(rawHeaders) !== 1) return invalid('Exactly one Host header is required');
  const isTarget =
    target !== undefined && (target.authority === undefined || readHost(target.authority) !== undefined);
  return isTarget ? undefined : invalid('The target of the request is not valid');
}

/** `rawHeaders`: names and values alternate. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === hostHeader.length && name.toLowerCase() === hostHeader) hosts += 1;
  }
  return hosts;
}

/** The host in the absolute form of a target counts too: RFC 9112 (section 3.2.2) gives it precedence. */
function hostProblem(
  request: IncomingMessage,
  target: RequestTarget | undefined,
  options: AdmissionOptions,
): Refused | undefined {
  const { host = '' } = request.headers;
  const authority = target?.authority;
  if (!isOurs(host, request, options)) return foreign(host, options);
  return authority === undefined || isOurs(authority, request, options)
    ? undefined
    : foreign(authority, options);
}

function foreign(
  authority: string,
  { hostAdvice = '--allow-host NAME allows it' }: AdmissionOptions,
): Refused {
  return forbidden(`Host ${shortText(authority)} is not allowed: ${hostAdvice}`);
}

function isOurs(
  authority: string,
  request: IncomingMessage,
  { allowHosts, boundAddresses }: AdmissionOptions,
): boolean {
  const name = readHost(authority);
  if (name === undefined) return false;
  if (isLoopbackHost(name) || allowHosts.some((allowed) => allowed.toLowerCase() === name)) return true;
  return boundAddresses && isBoundAddress(name, request);
}

/** Browsers identify the requesting page: by Origin, or without it by Sec-Fetch-Site (Fetch Metadata). */
function pageProblem(
  { headers, method }: IncomingMessage,
  { allowOrigins, links, originAdvice = '--allow-origin ORIGIN allows it' }: AdmissionOptions,
): Refused | undefined {
  const { origin } = headers;
  if (origin !== undefined) {
    const isAllowed = isLoopbackOrigin(origin) || allowOrigins.includes(origin);
    return isAllowed ? undefined : forbidden(`Origin ${shortText(origin)} is not allowed: ${originAdvice}`);
  }
  const site = headers['sec-fetch-site'] ?? 'none';
  if (site === 'none' || site === 'same-origin') return undefined;
  const isLink = method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
  return links && isLink
    ? undefined
    : forbidden('A page of another site may not send requests without an Origin');
}

function invalid(why: string): Refused {
  return { ok: false, cause: 'invalidRequest', why };
}

function forbidden(why: string): Refused {
  return { ok: false, cause: 'forbidden', why };
}

function isBoundAddress(name: string, { socket }: IncomingMessage): boolean {
  return isIP(name) !== 0 && canonical(name) === canonical(plainAddress(socket.localAddress));
}

/** An address in a canonical form, for comparison: IPv6 has many forms, and a zone does not count. */
function canonical(address: string): string {
  const url = `http://[${address.replace(/%.*/, '')}]`;
  return isIP(address) === 6 && URL.canParse(url) ? new URL(url).hostname : address;
}

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  return isLoopbackHost(url.hostname);
}

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../../protocol/loopback.ts';

export interface AdmissionOptions {
  /** Host names that are served beside loopback. */
  allowHosts: readonly string[];
  /** Origins that are served beside loopback ones. */
  allowOrigins: readonly string[];
  /** Whether an address that the emulator is bound to may stand for its name. */
  boundAddresses: boolean;
}

export type Admission =
  | { ok: true; origin: string | undefined }
  | { ok: false; cause: 'invalidRequest' | 'forbidden' | 'headersTooLarge'; why: string };

/** More headers than any client of the service sends. */
export const maxHeaders = 100;

/**
 * Decides from the headers alone whether a request may be read at all. A web page that has its own
 * name resolve to this machine (DNS rebinding), or that just posts here, is turned away.
 */
export function admit(request: IncomingMessage, options: AdmissionOptions): Admission {
  const { allowHosts, allowOrigins, boundAddresses } = options;
  if (request.rawHeaders.length / 2 > maxHeaders) {
    return { ok: false, cause: 'headersTooLarge', why: `More than ${maxHeaders} headers` };
  }
  // Node lets a duplicate Host through and keeps the first; only the raw headers show it.
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  const { host, origin } = request.headers;
  if (hosts !== 1 || host === undefined)
    return { ok: false, cause: 'invalidRequest', why: 'Exactly one Host header is required' };
  const name = hostName(host);
  const isAllowed = allowHosts.some((allowed) => allowed.toLowerCase() === name);
  const isOurs = isAllowed || isLoopbackHost(name) || (boundAddresses && isBoundAddress(name, request));
  if (!isOurs) return { ok: false, cause: 'forbidden', why: `Host ${name} is not allowed` };
  if (origin !== undefined && !isLoopbackOrigin(origin) && !allowOrigins.includes(origin)) {
    return { ok: false, cause: 'forbidden', why: `Origin ${origin} is not allowed` };
  }
  return { ok: true, origin };
}

/** `host` of `host:port`, without the brackets of an IPv6 literal. */
function hostName(header: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(header);
  if (bracketed?.[1] !== undefined) return bracketed[1].toLowerCase();
  return header.replace(/:\d*$/, '').toLowerCase();
}

function isBoundAddress(name: string, { socket }: IncomingMessage): boolean {
  return (
    isIP(name) !== 0 && canonical(name) === canonical(socket.localAddress?.replace(/^::ffff:/, '') ?? '')
  );
}

/** An address in the one form in which two can be compared: IPv6 has many, and a zone is no part of it. */
function canonical(address: string): string {
  const url = `http://[${address.replace(/%.*/, '')}]`;
  return isIP(address) === 6 && URL.canParse(url) ? new URL(url).hostname : address;
}

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
  return isLoopbackHost(url.hostname);
}

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** The target of a request (RFC 9112, section 3.2). */
export interface RequestTarget {
  path: string;
  /** The path and the query as they were sent. */
  written: string;
  /** Without the question mark; empty if there is none. */
  query: string;
  /** `host:port` of the absolute form, which clients send to proxies. */
  authority: string | undefined;
}

/** Undefined for targets without a path, such as `*`, which stands for the whole server. */
export function readTarget(url: string): RequestTarget | undefined {
  if (url.startsWith('/')) return splitQuery(url, undefined);
  const [, authority, path] = /^(?:http|ws)s?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined || path === undefined) return undefined;
  return splitQuery(path.startsWith('/') ? path : `/${path}`, authority);
}

function splitQuery(url: string, authority: string | undefined): RequestTarget {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, written: url, query: mark < 0 ? '' : url.slice(mark + 1), authority };
}

/**
 * `host` of `host:port` in lower case, without the brackets of an IPv6 literal; undefined if it does not follow the grammar
 * (RFC 9110, section 7.2; of the registered names of RFC 3986, only those that a machine can have).
 */
export function readHost(authority: string): string | undefined {
  const parts = /^(?:\[([\da-f:.]+)\]|([\w.~-]+))(?::(\d*))?$/i.exec(authority);
  if (parts === null) return undefined;
  const [, literal, name, port] = parts;
  if (Number(port ?? 0) > 65_535) return undefined;
  return literal === undefined || isIP(literal) === 6 ? (literal ?? name)?.toLowerCase() : undefined;
}

/** The whole body of a request; undefined if it is larger than `maxBytes`. */
export function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(undefined);
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(undefined);
      else chunks.push(chunk);
    });
    // Nearly every body is one chunk, and need not be copied.
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

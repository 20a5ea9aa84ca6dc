import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Header } from './exchange.ts';
import { headerValue } from './headers.ts';

/** A longer body is neither a token request nor an answer to one. */
const maxOutputLength = 2 * 1024 * 1024;
/** Of a truncated body, the part that arrived is read. */
const zlib = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
const brotli = { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH };
const decoders = new Map<string, (body: Buffer) => Buffer>([
  ['gzip', (body) => gunzipSync(body, zlib)],
  ['x-gzip', (body) => gunzipSync(body, zlib)],
  ['br', (body) => brotliDecompressSync(body, brotli)],
  // Some services leave out the header of zlib. Its first four bits are 8.
  ['deflate', (body) => ((body[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(body, zlib)],
]);

/** A body as text, decoded by its Content-Encoding. A body that cannot be decoded is read as it is. */
export function bodyText({ headers, body }: { headers: readonly Header[]; body: Buffer }): string {
  const named = headerValue(headers, 'content-encoding')?.toLowerCase().split(',') ?? [];
  const encodings = named.map((name) => name.trim());
  try {
    return encodings.reduceRight((read, name) => decoders.get(name)?.(read) ?? read, body).toString();
  } catch {
    return body.toString();
  }
}

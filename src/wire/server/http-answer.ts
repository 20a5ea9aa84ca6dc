import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorBody } from '../../protocol/error-body.ts';
import { jsonMediaType } from '../../protocol/token-request.ts';
import { cacheControl, type TokenResponse } from '../../protocol/token-response.ts';

/** An answer of the service. It may not be cached, and is JSON unless a fault changes it. */
export interface OutgoingAnswer {
  status: number;
  /** Text is sent unchanged. */
  body: ErrorBody | TokenResponse | string;
  mediaType?: string;
  headers?: readonly (readonly [name: string, value: string])[];
  /** Whether the connection ends after it, because part of the request was not read. */
  hangUp?: boolean;
}

/** Headers of an answer that is never cached, and whose media type a browser does not guess. */
export const uncachedHeaders = { 'Cache-Control': cacheControl, 'X-Content-Type-Options': 'nosniff' };

/** Answers with JSON that is never cached. */
export function sendJson(
  response: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': jsonMediaType,
    ...uncachedHeaders,
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** The headers as a flat list of names and values, as Node takes them. */
export function answerHead(
  { headers = [], mediaType = jsonMediaType, hangUp }: OutgoingAnswer,
  text: string,
): string[] {
  const length = String(Buffer.byteLength(text));
  const all = ['Content-Type', mediaType, 'Cache-Control', cacheControl, 'Content-Length', length];
  for (const [name, value] of headers) all.push(name, value);
  if (hangUp) all.push('Connection', 'close');
  return all;
}

/** The body as text. */
export function answerText({ body }: OutgoingAnswer): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Answers a request. */
export function sendAnswer(response: ServerResponse, answer: OutgoingAnswer): void {
  const text = answerText(answer);
  response.writeHead(answer.status, answerHead(answer, text));
  response.end(text);
}

/** Answers on a socket that has no response object: a refused upgrade, or a request that could not be parsed. */
export function sendRawAnswer(socket: Duplex, answer: OutgoingAnswer): void {
  if (!socket.writable) return;
  const text = answerText(answer);
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`];
  const head = answerHead({ ...answer, hangUp: true }, text);
  for (let at = 0; at < head.length; at += 2) lines.push(`${head[at]}: ${head[at + 1]}`);
  lines.push('', text);
  // Node allows half-open sockets here and no longer watches this one: a peer that stays would keep it open forever.
  socket.end(lines.join('\r\n'), 'utf8', () => socket.destroy());
}

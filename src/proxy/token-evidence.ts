import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Redactor } from '../kernel/redact.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { readTokenResponse } from '../protocol/token-response.ts';
import { isSuccess } from '../wire/client/http.ts';
import { concealAnswer, concealRequest } from '../wire/conceal.ts';
import type { Breakdown, Header, TokenExchange, TokenFacts } from '../wire/exchange.ts';
import { headerValue } from '../wire/headers.ts';
import { tokenFacts } from '../wire/token-facts.ts';
import { shortenText } from './evidence.ts';
import type { Secrets } from './secrets.ts';
import type { DeviceRequest, TargetAnswer } from './token-leg.ts';

/** Of a body, once its secrets are taken out. */
const keptBytes = 64 * 1024;

/** When a request began, and the keys that are known. */
export interface Moment {
  secrets: Secrets;
  startedAt: number;
  wallAt: number;
}

/** The exchange as evidence, without key and token. */
export function tokenEvidence(
  sent: DeviceRequest,
  answer: TargetAnswer,
  { secrets, startedAt, wallAt }: Moment,
): TokenExchange {
  const redactor = secrets.redactor();
  const request = concealRequest({ ...sent, body: bodyText(sent) }, redactor);
  const text = bodyText(answer);
  const token = isSuccess(answer.status) ? readTokenResponse(parseJson(text)) : undefined;
  if (token !== undefined) redactor.conceal(token);
  const { status, headers, firstByteMs, totalMs, failure } = answer;
  const breakdown: Breakdown | undefined = failure && { code: failure.code, message: failure.message };
  const concealed = concealAnswer({ status, headers, body: text, firstByteMs }, redactor);
  return {
    kind: 'token',
    ...{ at: startedAt, wallAt, totalMs, breakdown },
    request: { ...request, body: shortenText(request.body, keptBytes) },
    answer: { ...concealed, body: shortenText(concealed.body, keptBytes) },
    granted: token === undefined ? undefined : factsOf(token, redactor),
  };
}

/** A longer body is no token request and no answer to one. */
const maxOutputLength = 2 * 1024 * 1024;
/** Of a body that was cut, what came is read. */
const zlib = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
const brotli = { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH };
const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body, zlib),
  'x-gzip': (body) => gunzipSync(body, zlib),
  br: (body) => brotliDecompressSync(body, brotli),
  // Some services leave out the header of zlib. Its first four bits are 8.
  deflate: (body) => ((body[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(body, zlib),
};

/** A body as text, decoded by its Content-Encoding. One that cannot be decoded is read as it came. */
export function bodyText({ headers, body }: { headers: readonly Header[]; body: Buffer }): string {
  const encodings =
    headerValue(headers, 'content-encoding')
      ?.toLowerCase()
      .split(/\s*,\s*/) ?? [];
  try {
    return encodings.reduceRight((read, name) => decoders[name]?.(read) ?? read, body).toString();
  } catch {
    return body.toString();
  }
}

function factsOf(token: string, redactor: Redactor): TokenFacts {
  return tokenFacts(token, redactor);
}

import { type Redactor, redacted } from '../kernel/redact.ts';
import {
  concealHeaderValue,
  concealKey,
  concealUrl,
  secretInHeader,
  secretsInUrl,
} from '../kernel/secret-fields.ts';
import { isRecord } from '../protocol/error-body.ts';
import { withoutTokens } from '../protocol/first-message.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { Header, HttpAnswer, HttpRequest } from './exchange.ts';

/**
 * A text from outside without secrets, and without anything that looks like a JWT: it grants access wherever it is. JSON is
 * searched as a value, because backslashes allow many spellings of a secret in its text.
 */
export function concealText(text: string, redactor: Redactor): string {
  const parsed = text.includes('\\') ? parseJson(text) : undefined;
  const value = redactor.value(parsed);
  return concealTokens(value === parsed ? redactor.text(text) : JSON.stringify(value));
}

/** Whether a text in the evidence was nothing but a secret. */
export function isConcealed(text: string): boolean {
  return text === redacted;
}

/** An answer without secrets, in its headers too. */
export function concealAnswer(answer: HttpAnswer, redactor: Redactor): HttpAnswer {
  const headers = concealHeaders(answer.headers, redactor);
  return { ...answer, headers, body: concealText(answer.body, redactor) };
}

/** A text without anything that looks like a JWT. JSON stays JSON. */
export function concealTokens(text: string): string {
  return withoutTokens(text, redacted);
}

/** A request without what grants access in its URL, headers and body. The redactor learns it: the service may repeat it. */
export function concealRequest(request: HttpRequest, redactor: Redactor): HttpRequest {
  const { url, headers, body } = request;
  for (const secret of secretsIn(request)) redactor.conceal(secret);
  return {
    ...request,
    url: redactor.text(concealUrl(url)),
    headers: concealHeaders(headers, redactor),
    body: redactor.text(concealKey(body)),
  };
}

/** A cookie may grant access, like a token. */
function concealHeaders(headers: readonly Header[], redactor: Redactor): Header[] {
  return headers.map(([name, value]) => [
    name,
    concealTokens(redactor.text(concealHeaderValue(name, value))),
  ]);
}

/** What grants access in a request. */
export function secretsIn({ url, headers, body }: HttpRequest): string[] {
  const fields = parseJson(body);
  const key = isRecord(fields) ? fields.apiKey : undefined;
  return [
    ...(typeof key === 'string' ? [key] : []),
    ...secretsInUrl(url),
    ...headers.flatMap(([name, value]) => secretInHeader(name, value) ?? []),
  ];
}

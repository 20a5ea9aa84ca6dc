import { type Redactor, redacted } from '../kernel/redact.ts';
import {
  concealHeaderValue,
  concealKey,
  concealNumbers,
  concealUrl,
  secretInHeader,
  secretsInFields,
  secretsInText,
  secretsInUrl,
} from '../kernel/secret-fields.ts';
import { withoutTokens } from '../protocol/first-message.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { tokenRequestFields } from '../protocol/token-request.ts';
import type { Header, HttpAnswer, HttpRequest } from './exchange.ts';

/** A text from outside without secrets, and without anything that looks like a JWT: it grants access wherever it is. */
export function concealText(text: string, redactor: Redactor): string {
  return concealTokens(concealKnown(text, redactor));
}

/**
 * A text from outside without the secrets that the redactor knows. JSON is searched as a value, because backslashes allow many
 * spellings of a secret in its text.
 */
export function concealKnown(whole: string, redactor: Redactor): string {
  const text = withoutSecretNumbers(whole, redactor);
  const parsed = text.includes('\\') ? parseJson(text) : undefined;
  const value = redactor.value(parsed);
  return value === parsed ? redactor.text(text) : JSON.stringify(value);
}

/** JSON stays JSON, and a number stays a number: a rule may ask what the field is. */
function withoutSecretNumbers(text: string, redactor: Redactor): string {
  const isSecret = (part: string) => redactor.text(part) !== part;
  return isSecret(text) && parseJson(text) !== undefined ? concealNumbers(text, isSecret) : text;
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
    url: concealTokens(redactor.text(concealUrl(url))),
    headers: concealHeaders(headers, redactor),
    body: concealTokens(redactor.text(withoutSecretNumbers(concealKey(body), redactor))),
  };
}

/** A cookie may grant access, like a token. */
function concealHeaders(headers: readonly Header[], redactor: Redactor): Header[] {
  return headers.map(([name, value]) => [
    name,
    concealTokens(redactor.text(concealHeaderValue(name, value))),
  ]);
}

/** In every token request: as secrets, these names would be concealed in each of them. */
const namesOfFields: readonly string[] = tokenRequestFields;

/** What grants access in a request. */
export function secretsIn({ url, headers, body }: HttpRequest): string[] {
  const inBody = new Set([...secretsInText(body), ...secretsInFields(parseJson(body))]);
  return [
    ...[...inBody].filter((secret) => !namesOfFields.includes(secret)),
    ...secretsInUrl(url),
    ...headers.flatMap(([name, value]) => secretInHeader(name, value) ?? []),
  ];
}

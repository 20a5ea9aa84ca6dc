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
import { audience } from '../protocol/claims.ts';
import { isRecord } from '../protocol/error-body.ts';
import { withoutTokens } from '../protocol/first-message.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { connectedKind } from '../protocol/read-message.ts';
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

/** The value itself if it holds nothing that looks like a JWT, else a JSON copy without it. */
export function concealTokensIn<Value>(value: Value): Value {
  const json = value === undefined ? '' : JSON.stringify(value);
  const clean = concealTokens(json);
  return clean === json ? value : JSON.parse(clean);
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

/** Words of the protocol: as secrets they would be concealed in what every device and service says, and spoil the verdicts. */
const protocolWords: readonly string[] = [...tokenRequestFields, audience, connectedKind];

/**
 * What grants access in a request: no words of the protocol, and no device that the body names. Of a body that asks for no token
 * only the keys: it may have anything under the name of another secret.
 */
export function secretsIn({ url, headers, body }: HttpRequest, asksForToken = true): string[] {
  const fields = asksForToken ? parseJson(body) : undefined;
  const keys = secretsInText(body);
  const named = isRecord(fields) ? fields.deviceId : undefined;
  const inBody = new Set([...keys, ...secretsInFields(fields).filter((secret) => secret !== named)]);
  return [
    ...[...inBody].filter((secret) => !protocolWords.some((word) => word.includes(secret))),
    ...secretsInUrl(url),
    ...headers.flatMap(([name, value]) => secretInHeader(name, value) ?? []),
  ];
}

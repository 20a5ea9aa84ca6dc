import { type Redactor, redacted } from '../kernel/redact.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { Header, HttpAnswer } from './exchange.ts';

/**
 * A text from the service without secrets. JSON is searched as a value, because backslashes allow
 * many spellings of a secret in its text.
 */
export function concealText(text: string, redactor: Redactor): string {
  const parsed = text.includes('\\') ? parseJson(text) : undefined;
  const value = redactor.value(parsed);
  return value === parsed ? redactor.text(text) : JSON.stringify(value);
}

/** An answer without secrets. */
export function concealAnswer(answer: HttpAnswer, redactor: Redactor): HttpAnswer {
  const headers = answer.headers.map((header) => concealHeader(header, redactor));
  return { ...answer, headers, body: concealText(answer.body, redactor) };
}

/** A cookie may grant access, as a token does. */
function concealHeader([name, value]: Header, redactor: Redactor): Header {
  return [name, name.toLowerCase() === 'set-cookie' ? redacted : redactor.text(value)];
}

/** The text of a token request without its `apiKey`. It need not be JSON. An empty key is no secret. */
export function concealKey(body: string): string {
  return body.replace(/("apiKey"\s*:\s*)"(?:[^"\\]|\\.)+"?/g, `$1"${redacted}"`);
}

import { VoicectlError } from './errors.ts';
import { jsonLine, jsonText } from './escape.ts';

/** Stands where a secret was. */
export const redacted = '[redacted]';

/** Shorter texts are no secrets, and taking them out would wreck what is recorded. */
const shortestSecret = 6;

/** Keeps keys and tokens out of what is written, also where a service says them back. */
export interface Redactor {
  /** From now on the text is taken out wherever it stands; of a JWT its signature alone as well. */
  conceal(secret: string): void;
  /** The value as one line of JSON. */
  line(value: unknown): string;
  text(text: string): string;
  /** The value itself where it holds no secret, else a copy as JSON has it. */
  value<Value>(value: Value): Value;
  /** What was thrown, or an error without the secrets that it told. */
  thrown(thrown: unknown): unknown;
}

export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  const scrub = (text: string) =>
    [...secrets].reduce((rest, secret) => rest.replaceAll(secret, redacted), text);
  const scrubIn = (_name: string, value: unknown) => {
    if (typeof value === 'string') return scrub(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [scrub(name), inner]));
  };
  const tells = (line: string) => [...secrets].some((secret) => line.includes(secret));
  const cleaned = <Value>(value: Value): Value => {
    const line = jsonText(value);
    return tells(line) ? JSON.parse(line, scrubIn) : value;
  };
  return {
    conceal(secret) {
      const signature = secret.split('.').length === 3 ? (secret.split('.')[2] ?? '') : '';
      for (const one of [secret, signature]) {
        if (one.length < shortestSecret) continue;
        // Within a text message of the service it stands as JSON writes it, and in an event as the line does.
        secrets
          .add(one)
          .add(escaped(one))
          .add(escaped(escaped(one)));
      }
    },
    line(value) {
      const line = jsonLine(value);
      return tells(line) ? jsonLine(JSON.parse(line, scrubIn)) : line;
    },
    text: scrub,
    value: cleaned,
    thrown(thrown) {
      if (!(thrown instanceof VoicectlError)) return thrown;
      const { code, message, hint, details, retryable, cause, stack } = thrown;
      if (!tells(jsonText({ message, hint, details }))) return thrown;
      const options = { hint: hint && scrub(hint), details: cleaned(details), retryable, cause };
      const told = new VoicectlError(code, scrub(message), options);
      // Where it came from, and not where it was cleaned.
      if (stack !== undefined) told.stack = scrub(stack);
      return told;
    },
  };
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

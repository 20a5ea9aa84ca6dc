import { toVoicectlError, VoicectlError } from './errors.ts';
import { jsonLine, jsonText } from './escape.ts';
import { spellingsOf } from './spellings.ts';
import { isError } from './thrown.ts';

/** Replaces a secret. */
export const redacted = '[redacted]';

/** Shorter texts are no secrets, and replacing them would spoil recordings. */
const shortestSecret = 6;

/** Removes keys and tokens from all output, even if a service repeats them. */
export interface Redactor {
  /** From now on replaces the text everywhere; for a JWT, also its signature alone. */
  conceal(secret: string): void;
  /** The value as one line of JSON. */
  line(value: unknown): string;
  text(text: string): string;
  /** The value itself if it holds no secret, else a JSON copy without secrets. */
  value<Value>(value: Value): Value;
  /** The error that was thrown, or a copy without secrets. */
  thrown(thrown: unknown): unknown;
}

interface Secrets {
  /** `part` is in the secret, and is a secret too: looking for it finds both. */
  add(secret: string, part?: string): void;
  /** Whether one of them is in the text, in any spelling. */
  areIn(text: string): boolean;
  scrub(text: string): string;
}

function createSecrets(): Secrets {
  // Few texts contain a backslash. The other spellings of a secret are made when the first one does.
  const secrets = new Map<string, RegExp | undefined>();
  const parts = new Set<string>();
  const spellings = (secret: string): RegExp => {
    const made = secrets.get(secret) ?? spellingsOf(secret);
    secrets.set(secret, made);
    return made;
  };
  return {
    add(secret, part = secret) {
      // The whole first: it is replaced as a whole.
      for (const one of [secret, part]) secrets.set(one, secrets.get(one));
      parts.add(part);
    },
    areIn(text) {
      const isEscaped = text.includes('\\');
      return [...parts].some(
        (secret) => text.includes(secret) || (isEscaped && text.search(spellings(secret)) >= 0),
      );
    },
    scrub(text) {
      let rest = text;
      for (const secret of secrets.keys()) {
        rest = rest.replaceAll(secret, redacted);
        if (rest.includes('\\')) rest = rest.replace(spellings(secret), redacted);
      }
      return rest;
    },
  };
}

export function createRedactor(): Redactor {
  const { add, areIn: tells, scrub } = createSecrets();
  const scrubIn = (_name: string, value: unknown) => {
    if (typeof value === 'string') return scrub(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [scrub(name), inner]));
  };
  const cleaned = <Value>(value: Value): Value => {
    const line = jsonText(value);
    return tells(line) ? JSON.parse(line, scrubIn) : value;
  };
  const cleanedCause = (cause: unknown): unknown => {
    if (!isError(cause)) return cause;
    const inner = cleanedCause(cause.cause);
    if (inner === cause.cause && !tells(`${cause.message}\n${cause.stack}`)) return cause;
    const told = new Error(scrub(cause.message), inner === undefined ? undefined : { cause: inner });
    return Object.assign(told, { name: cause.name, stack: scrub(cause.stack ?? '') });
  };
  return {
    conceal(secret) {
      const signature = secret.split('.').length === 3 ? (secret.split('.')[2] ?? '') : '';
      if (secret.length >= shortestSecret)
        add(secret, signature.length >= shortestSecret ? signature : secret);
    },
    line(value) {
      const line = jsonLine(value);
      return tells(line) ? jsonLine(JSON.parse(line, scrubIn)) : line;
    },
    text: scrub,
    value: cleaned,
    thrown(thrown) {
      if (!isError(thrown)) return thrown;
      const { code, hint, details, retryable } = toVoicectlError(thrown);
      const { message, stack = '' } = thrown;
      const cause = cleanedCause(thrown instanceof VoicectlError ? thrown.cause : thrown);
      const isClean = cause === thrown || cause === thrown.cause;
      if (isClean && !tells(jsonText({ message, hint, details, stack }))) return thrown;
      const told = new VoicectlError(code, scrub(message), {
        hint: hint && scrub(hint),
        details: cleaned(details),
        retryable,
        cause,
      });
      // Keep the stack of the original error.
      told.stack = scrub(stack);
      return told;
    },
  };
}

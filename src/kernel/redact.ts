import { isError, toVoicectlError, VoicectlError } from './errors.ts';
import { jsonLine, jsonText } from './escape.ts';
import { createSecretIndex, joinSpans, type SecretIndex, type SecretSpan } from './secret-index.ts';

/** Replaces a secret. */
export const redacted = '[redacted]';

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

/** `known`: secrets of others that it removes as well, including those added later. */
export function createRedactor(known: Pick<SecretIndex, 'find'> = noSecrets): Redactor {
  const own = createSecretIndex();
  const spansIn = (text: string) => joinSpans([...own.find(text), ...known.find(text)]);
  const tells = (text: string) => spansIn(text).length > 0;
  const scrub = (text: string) => replaceSpans(text, spansIn(text));
  const cleaned = <Value>(value: Value): Value => {
    return someText(value, tells) ? (copyTexts(value, { text: scrub, name: scrub }) as Value) : value;
  };
  const cleanedCause = (cause: unknown): unknown => {
    if (!isError(cause)) return cause;
    const inner = cleanedCause(cause.cause);
    if (inner === cause.cause && !tells(`${cause.message}\n${cause.stack}`)) return cause;
    const clean = new Error(scrub(cause.message), inner === undefined ? undefined : { cause: inner });
    return Object.assign(clean, { name: cause.name, stack: scrub(cause.stack ?? '') });
  };
  return {
    conceal: own.add,
    line: (value) => jsonLine(cleaned(value)),
    text: scrub,
    value: cleaned,
    thrown(thrown) {
      if (!isError(thrown)) return thrown;
      const { code, hint, details, retryable } = toVoicectlError(thrown);
      const { message, stack = '' } = thrown;
      const cause = cleanedCause(thrown instanceof VoicectlError ? thrown.cause : thrown);
      const isClean = cause === thrown || cause === thrown.cause;
      if (isClean && !someText({ message, hint, details, stack }, tells)) return thrown;
      const clean = new VoicectlError(code, scrub(message), {
        hint: hint && scrub(hint),
        details: cleaned(details),
        retryable,
        cause,
      });
      // Keep the stack of the original error.
      clean.stack = scrub(stack);
      return clean;
    },
  };
}

/**
 * Replaces a name that is nothing but one of these keys, in any spelling. One that only contains a key stays: people identify
 * a device by its name.
 */
export function createNameConcealer(keys: readonly string[]): (name: string) => string {
  const redactor = createRedactor(createSecretIndex(keys));
  return (name) => (keys.includes(name) || redactor.text(name) === redacted ? redacted : name);
}

/** Deeper parts of a value with a secret are replaced whole: beyond a few thousand levels a copy would overflow the stack. */
const deepest = 500;

/** A JSON copy of a value with its texts changed, each by what it says and the name of its field, and the names too. */
export function copyTexts(
  value: unknown,
  change: { text: (text: string, name: string) => string; name: (name: string) => string },
): unknown {
  const copy = (part: unknown, own: string, depth: number): unknown => {
    if (typeof part === 'string') return change.text(part, own);
    if (typeof part !== 'object' || part === null) return part;
    if (depth > deepest) return redacted;
    if (Array.isArray(part)) return part.map((inner) => copy(inner, '', depth + 1));
    const entries = Object.entries(part);
    return Object.fromEntries(
      entries.map(([name, inner]) => [change.name(name), copy(inner, name, depth + 1)]),
    );
  };
  return copy(JSON.parse(jsonText(value)), '', 0);
}

const noSecrets: Pick<SecretIndex, 'find'> = { find: () => [] };

function replaceSpans(text: string, spans: readonly SecretSpan[]): string {
  let rest = '';
  let at = 0;
  for (const { start, end } of spans) {
    rest += text.slice(at, start) + redacted;
    at = end;
  }
  return at === 0 ? text : rest + text.slice(at);
}

/** Whether any text or name in the value, at any depth, passes the test. */
function someText(value: unknown, isSuch: (text: string) => boolean): boolean {
  const waiting = [value];
  const seen = new Set<unknown>();
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string' && isSuch(next)) return true;
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (!Array.isArray(next) && Object.keys(next).some(isSuch)) return true;
    for (const inner of Object.values(next)) waiting.push(inner);
  }
  return false;
}

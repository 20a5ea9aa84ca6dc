/** An own field of an object that was read, or of a table; undefined for any other name, such as `constructor`. */
export function ownValue<Value>(
  fields: Readonly<Record<string, Value>> | undefined,
  name: string,
): Value | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** A text as JSON; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** More levels than any message, claim or answer has. Beyond a few thousand nothing could copy or print a value. */
export const readableLevels = 100;

/**
 * Whether nothing in a value read from JSON is nested deeper, and no object in it has a forbidden key. Walks without
 * recursion: no depth exhausts the stack.
 */
export function isNestedWithin(
  value: unknown,
  mostLevels: number,
  forbiddenKeys: ReadonlySet<string> = new Set(),
): boolean {
  const waiting: { value: unknown; level: number }[] = [{ value, level: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.level >= mostLevels) return false;
    for (const [key, inner] of Object.entries(next.value)) {
      if (forbiddenKeys.has(key)) return false;
      waiting.push({ value: inner, level: next.level + 1 });
    }
  }
  return true;
}

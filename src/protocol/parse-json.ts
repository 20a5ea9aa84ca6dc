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

/** Rough overhead of an object and of each field, in bytes. */
const fieldBytes = 16;

/** Estimates the bytes that a value takes in memory, well enough for a bound. Walks without recursion. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = fieldBytes;
  const waiting: object[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    // Every event is weighed: a list of its fields would cost more than the fields.
    for (const name in next) {
      const field: unknown = next[name as keyof typeof next];
      bytes += fieldBytes;
      if (typeof field === 'string') bytes += field.length;
      else if (typeof field === 'object' && field !== null) waiting.push(field);
    }
  }
  return bytes;
}

/** What a part in a queue costs at least, roughly: the objects around it. */
const leastPartBytes = 256;

/** What a queue counts for a part of this many bytes: empty parts fill it too. */
export function queueCostBytes(bytes: number): number {
  return Math.max(bytes, leastPartBytes);
}

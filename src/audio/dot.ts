/**
 * The dot product of `length` numbers, a multiple of 4, beginning at each start. Four parallel sums, so that the processor
 * does not wait for one addition before the next.
 */
export function dot(
  a: Float32Array,
  aStart: number,
  b: Float32Array,
  bStart: number,
  length: number,
): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  for (let i = 0; i < length; i += 4) {
    const p = aStart + i;
    const q = bStart + i;
    sum0 += (a[p] ?? 0) * (b[q] ?? 0);
    sum1 += (a[p + 1] ?? 0) * (b[q + 1] ?? 0);
    sum2 += (a[p + 2] ?? 0) * (b[q + 2] ?? 0);
    sum3 += (a[p + 3] ?? 0) * (b[q + 3] ?? 0);
  }
  return sum0 + sum1 + (sum2 + sum3);
}

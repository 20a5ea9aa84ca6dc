import type { Header } from './exchange.ts';

/** Turns a flat list of names and values into pairs. */
export function headerPairs(flat: readonly string[]): Header[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : []));
}

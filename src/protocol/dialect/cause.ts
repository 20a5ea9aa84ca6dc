/** What a cause is by default: a status or close code, and what the error says. */
export type Defaults = readonly [number: number, code: string, message: string];

/** The record with each value mapped. */
export function mapValues<Keys extends string, In, Out>(
  record: Readonly<Record<Keys, In>>,
  map: (value: In) => Out,
) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value as In)])) as Record<
    Keys,
    Out
  >;
}

/** The defaults of a cause: a status or close code, and the code and message of the error. */
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

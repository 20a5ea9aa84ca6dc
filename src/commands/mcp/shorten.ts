import { cutText } from '../../kernel/escape.ts';

/** Largest answer: about 6,000 tokens. */
export const maxAnswerBytes = 24_000;

/** Items of a list and characters of a text that are kept: steps until the answer is short enough. */
const steps = [
  [Number.POSITIVE_INFINITY, 8_000],
  [200, 2_000],
  [100, 1_000],
  [50, 500],
  [20, 300],
  [10, 200],
  [5, 100],
  [2, 60],
  [1, 30],
  [0, 30],
] as const;

/**
 * The answer, with lists and texts cut where it is too long: `omitted` counts what was left out, by place. Lists keep
 * their first items. An answer may bring counts of what it lacks already.
 */
export function shorten({
  omitted: before,
  ...answer
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  let shortened: Record<string, unknown>;
  for (const [items, characters] of steps) {
    const omitted = countsOf(before);
    const cut = cutAll(answer, '', { items, characters, omitted }) as Record<string, unknown>;
    shortened = omitted.size === 0 ? cut : { ...cut, omitted: Object.fromEntries(omitted) };
    if (Buffer.byteLength(JSON.stringify(shortened)) <= maxAnswerBytes) return shortened;
  }
  return { omitted: { everything: 1 } };
}

function countsOf(omitted: unknown): Map<string, number> {
  const counts = Object.entries(omitted ?? {}).map(([place, count]) => [place, Number(count)] as const);
  return new Map(counts);
}

interface Limits {
  items: number;
  characters: number;
  omitted: Map<string, number>;
}

function cutAll(value: unknown, place: string, limits: Limits): unknown {
  const { items, characters, omitted } = limits;
  const leaveOut = (count: number) => {
    if (count > 0) omitted.set(place, (omitted.get(place) ?? 0) + count);
  };
  if (typeof value === 'string') {
    if (value.length <= characters) return value;
    leaveOut(value.length - characters);
    return `${cutText(value, characters)}…`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    leaveOut(Math.max(0, value.length - items));
    return value.slice(0, items).map((item) => cutAll(item, `${place}[]`, limits));
  }
  const entries = Object.entries(value);
  // The top-level fields of an answer all stay.
  const kept = place === '' ? entries : entries.slice(0, Math.max(items, 20));
  leaveOut(entries.length - kept.length);
  return Object.fromEntries(
    kept.map(([name, inner]) => [name, cutAll(inner, place === '' ? name : `${place}.${name}`, limits)]),
  );
}

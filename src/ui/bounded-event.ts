import { cutText, jsonText } from '../kernel/escape.ts';

/** Longer values are cut on a screen; `--json` and recordings keep them. */
const maxCharacters = 32_768;

/** Names from a service are shown in a column, so less of them is kept. */
const maxNameCharacters = 256;

/** Fields whose size and depth the other side chooses. */
const foreign = ['body', 'claims'] as const;

/** The event with everything from the network limited in size and depth, so that it can be passed on and shown. */
export function boundEvent<Event extends object>(event: Event): Event {
  const fields = Object.entries(event).flatMap(([name, value]): [string, unknown][] => {
    if ((foreign as readonly string[]).includes(name)) return [];
    const bound = name === 'kind' ? boundText(value, maxNameCharacters) : boundTexts(value);
    return bound === value ? [] : [[name, bound]];
  });
  const foreignFields = foreign.flatMap((name) => {
    const value = (event as Partial<Record<string, unknown>>)[name];
    if (value === undefined || value === null) return [];
    const text = jsonText(value);
    if (text.length > maxCharacters)
      return [[name, `${cutText(text, maxCharacters)} … (${text.length} characters)`]];
    // Values within the limits stay unchanged.
    return isFlat(value) ? [] : [[name, JSON.parse(text) as unknown]];
  });
  const changed = [...fields, ...foreignFields];
  return changed.length === 0 ? event : { ...event, ...Object.fromEntries(changed) };
}

function boundText(value: unknown, limit: number): unknown {
  return typeof value === 'string' && value.length > limit ? `${cutText(value, limit)}…` : value;
}

/** Our own structure with texts and names that may come from a service; unchanged if none is too long. */
function boundTexts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return boundText(value, maxCharacters);
  const before = Object.entries(value);
  const after = before.map(([name, part]) => [boundText(name, maxNameCharacters), boundTexts(part)]);
  if (after.every(([name, part], index) => name === before[index]?.[0] && part === before[index]?.[1]))
    return value;
  return Array.isArray(value) ? after.map(([, part]) => part) : Object.fromEntries(after);
}

/** Deeper values are converted to JSON and back, which drops what is nested too deeply. */
const safeDepth = 100;

function isFlat(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < safeDepth && Object.values(value).every((part) => isFlat(part, depth + 1));
}

import { cutText, jsonText } from '../kernel/escape.ts';

/** Longer values are not for a screen; they are in what `--json` and the recordings keep. */
const maxCharacters = 32_768;

/** Names that a service gives stand in a column. */
const maxNameCharacters = 256;

/** Fields whose size and depth are somebody else's choice. */
const foreign = ['body', 'claims'] as const;

/** The event with whatever came over the network in bounded size and depth, so that it can be handed on and shown. */
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
      return [[name, `${text.slice(0, maxCharacters)} … (${text.length} characters)`]];
    // What can be written as JSON without a word of ours is as it was.
    return isFlat(value) ? [] : [[name, JSON.parse(text) as unknown]];
  });
  const changed = [...fields, ...foreignFields];
  return changed.length === 0 ? event : { ...event, ...Object.fromEntries(changed) };
}

function boundText(value: unknown, limit: number): unknown {
  return typeof value === 'string' && value.length > limit ? `${cutText(value, limit)}…` : value;
}

/** Structure that is ours, with texts and names in it that may be a service's; itself where none is too long. */
function boundTexts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return boundText(value, maxCharacters);
  const before = Object.entries(value);
  const after = before.map(([name, part]) => [boundText(name, maxNameCharacters), boundTexts(part)]);
  if (after.every(([name, part], index) => name === before[index]?.[0] && part === before[index]?.[1]))
    return value;
  return Array.isArray(value) ? after.map(([, part]) => part) : Object.fromEntries(after);
}

/** Deeper values are written and read once more: what was nested too deeply has been left out then. */
const safeDepth = 100;

function isFlat(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < safeDepth && Object.values(value).every((part) => isFlat(part, depth + 1));
}

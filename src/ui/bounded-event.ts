import { jsonText } from '../escape.ts';

/** Longer values are not for a screen; they are in what `--json` and the recordings keep. */
const maxCharacters = 32_768;

/** Fields whose size and depth are somebody else's choice. */
const foreign = ['body', 'claims'] as const;

/** The event with whatever came over the network in bounded size and depth, so that it can be handed on and shown. */
export function boundEvent<Event extends object>(event: Event): Event {
  const fields = foreign.flatMap((name) => {
    const value = (event as Partial<Record<string, unknown>>)[name];
    if (value === undefined || value === null) return [];
    const text = jsonText(value);
    if (text.length > maxCharacters)
      return [[name, `${text.slice(0, maxCharacters)} … (${text.length} characters)`]];
    // What can be written as JSON without a word of ours is as it was.
    return isFlat(value) ? [] : [[name, JSON.parse(text) as unknown]];
  });
  return fields.length === 0 ? event : { ...event, ...Object.fromEntries(fields) };
}

/** Deeper values are written and read once more: what was nested too deeply has been left out then. */
const safeDepth = 100;

function isFlat(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < safeDepth && Object.values(value).every((part) => isFlat(part, depth + 1));
}

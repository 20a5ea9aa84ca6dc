import { cutText, jsonText } from '../kernel/escape.ts';
import type { TurnNews } from '../report/turn-watch.ts';
import type { SessionEvent } from '../session/events.ts';
import { sumAudio } from '../session/fold-audio.ts';

/** Maximum number of events that wait for the next frame; beyond that the oldest of the commonest type are dropped and counted. */
const maxPending = 2_000;

/** The events since the last frame. */
export interface PendingEvents<Event> {
  readonly size: number;
  add(event: Event): void;
  /** The events, and how many were dropped. */
  drain(): { events: Event[]; leftOut: number };
}

/** `fold` merges two events into one, or returns undefined if they cannot be merged. */
export function createPendingEvents<Event extends { type: string }>(
  fold: (before: Event, event: Event) => Event | undefined,
): PendingEvents<Event> {
  let events: Event[] = [];
  let leftOut = 0;
  return {
    get size() {
      return events.length;
    },
    add(event) {
      // Audio of both directions alternates, so it may overtake audio, but nothing else: an interruption drops what came before.
      const places = events.at(-1)?.type === event.type ? [1, 2] : [1];
      for (const fromEnd of places) {
        const index = events.length - fromEnd;
        const before = events[index];
        const folded = before === undefined ? undefined : fold(before, event);
        if (folded === undefined) continue;
        events[index] = folded;
        return;
      }
      events.push(event);
      if (events.length <= 2 * maxPending) return;
      leftOut += events.length - maxPending;
      events = dropCommonest(events, maxPending);
    },
    drain() {
      const taken = {
        events: dropCommonest(events, maxPending),
        leftOut: leftOut + Math.max(0, events.length - maxPending),
      };
      events = [];
      leftOut = 0;
      return taken;
    },
  };
}

/** At most `most` events, in their order. What is rare in a flood (a state, a warning, the end) is kept. */
function dropCommonest<Event extends { type: string }>(events: Event[], most: number): Event[] {
  const over = events.length - most;
  if (over <= 0) return events;
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  const [commonest] = [...counts].reduce((before, one) => (one[1] > before[1] ? one : before));
  let left = over;
  const kept = events.filter(({ type }) => {
    if (type !== commonest || left === 0) return true;
    left -= 1;
    return false;
  });
  return dropCommonest(kept, most);
}

/** Audio of one direction within a frame becomes one event. */
export function foldSessionEvents<News extends SessionEvent | TurnNews>(
  before: News,
  event: News,
): News | undefined {
  if (before.type !== 'audio' || event.type !== 'audio' || before.direction !== event.direction)
    return undefined;
  return { ...before, ...sumAudio(before, event) };
}

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

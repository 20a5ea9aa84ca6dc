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
  take(): { events: Event[]; leftOut: number };
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
      // Audio of both directions alternates, so only the last two events can be merged.
      for (const index of [events.length - 1, events.length - 2]) {
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
    take() {
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

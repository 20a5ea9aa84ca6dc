import type { SessionEvent } from '../session/events.ts';
import { sumAudio } from '../session/fold-audio.ts';

/** Most events that wait for the next frame; beyond it the oldest are dropped and counted. */
const maxPending = 2_000;

/** The events since the last frame. */
export interface PendingEvents<Event> {
  readonly size: number;
  add(event: Event): void;
  /** The events, and how many were dropped. */
  take(): { events: Event[]; leftOut: number };
}

/** `fold` merges two events into one, or returns undefined if they cannot be merged. */
export function createPendingEvents<Event>(
  fold: (before: Event, event: Event) => Event | undefined,
): PendingEvents<Event> {
  let events: Event[] = [];
  let leftOut = 0;
  return {
    get size() {
      return events.length;
    },
    add(event) {
      // Audio of both directions alternates: only the last two can be merged.
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
      events = events.slice(-maxPending);
    },
    take() {
      const taken = {
        events: events.slice(-maxPending),
        leftOut: leftOut + Math.max(0, events.length - maxPending),
      };
      events = [];
      leftOut = 0;
      return taken;
    },
  };
}

/** Audio of one direction within a frame becomes one event. */
export function foldSessionEvents(before: SessionEvent, event: SessionEvent): SessionEvent | undefined {
  if (before.type !== 'audio' || event.type !== 'audio' || before.direction !== event.direction)
    return undefined;
  return { ...before, ...sumAudio(before, event) };
}

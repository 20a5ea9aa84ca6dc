import { VoicectlError } from '../../kernel/errors.ts';
import { shortText } from '../../kernel/short-text.ts';
import { didYouMean } from '../../protocol/suggestion.ts';
import { type EmulatorEvent, emulatorEventTypes } from '../events.ts';
import { createNewest, estimateBytes } from './newest.ts';
import type { JournalEntry, JournalFilter, StateJournal } from './state.ts';

/** Bounds of the journal: beyond either one the oldest events are dropped. */
const maxEntries = 10_000;
const maxBytes = 8 * 1024 * 1024;

/** The past events that are still remembered. */
export interface Journal {
  /** The newest `limit` events that match the filter, oldest first. */
  read(filter: JournalFilter, limit: number): JournalEntry[];
  /** Calls the listener for each event from now on that matches the filter. Call the result to stop. */
  follow(filter: JournalFilter, listener: (entry: JournalEntry) => void): () => void;
  clear(): void;
}

export function createJournal(): Journal & StateJournal {
  // Plain events: each gets its number only when somebody reads it.
  const newest = createNewest<EmulatorEvent>({ maxItems: maxEntries, maxBytes, weigh: estimateBytes });
  let seq = 0;
  const followers = new Set<(entry: JournalEntry) => void>();
  const numbered = (): JournalEntry[] => {
    const remembered = newest.list();
    const before = seq - remembered.length;
    return remembered.map((event, at) => ({ seq: before + at + 1, ...event }));
  };
  return {
    add(event) {
      seq += 1;
      newest.add(event);
      for (const follower of followers) follower({ seq, ...event });
    },
    read(filter, limit) {
      const found = numbered().filter((entry) => matchesFilter(entry, filter));
      return found.slice(Math.max(0, found.length - limit));
    },
    follow(filter, listener) {
      const follower = (entry: JournalEntry) => {
        if (matchesFilter(entry, filter)) listener(entry);
      };
      followers.add(follower);
      return () => followers.delete(follower);
    },
    clear: newest.clear,
  };
}

export function matchesFilter(entry: JournalEntry, { type, device, stream, since }: JournalFilter): boolean {
  if (since !== undefined && entry.seq <= since) return false;
  if (type !== undefined && entry.type !== type) return false;
  if (device !== undefined && !('device' in entry && entry.device === device)) return false;
  return stream === undefined || ('stream' in entry && entry.stream === stream);
}

/** Throws `usage` for a type of event that does not exist: waiting or looking for it would find nothing, silently. */
export function requireEventType(type: string): void {
  if (emulatorEventTypes.includes(type)) return;
  const meant = didYouMean(type, emulatorEventTypes);
  throw new VoicectlError('usage', `There is no event of type ${shortText(type)}${meant}`, {
    hint: `The types are ${emulatorEventTypes.join(', ')}.`,
  });
}

import type { JournalQuery } from '../../protocol/control.ts';
import type { EmulatorEvent, EmulatorEvents } from '../events.ts';

/** Events that are remembered; beyond it the oldest are forgotten. */
const maxEntries = 10_000;

/** An event with its place in the order of all events. */
export type JournalEntry = { seq: number } & EmulatorEvent;

export type JournalFilter = Pick<JournalQuery, 'type' | 'device' | 'stream' | 'since'>;

/** What has happened, as far back as it is remembered. */
export interface Journal {
  /** The newest `limit` events that pass the filter, oldest first. */
  read(filter: JournalFilter, limit: number): JournalEntry[];
  /** Calls for each event from now on that passes the filter; the result ends that. */
  follow(filter: JournalFilter, listener: (entry: JournalEntry) => void): () => void;
  clear(): void;
}

export function createJournal(events: EmulatorEvents): Journal {
  // Events as they are: a number of its own for each is made only when somebody reads it.
  let entries: EmulatorEvent[] = [];
  let seq = 0;
  const followers = new Set<(entry: JournalEntry) => void>();
  events.subscribe((event) => {
    seq += 1;
    entries.push(event);
    // Cut in large steps: a cut for each event would copy the whole journal each time.
    if (entries.length > 2 * maxEntries) entries = entries.slice(-maxEntries);
    for (const follower of followers) follower({ seq, ...event });
  });
  const numbered = (): JournalEntry[] => {
    const remembered = entries.slice(-maxEntries);
    const before = seq - remembered.length;
    return remembered.map((event, at) => ({ seq: before + at + 1, ...event }));
  };
  return {
    read: (filter, limit) =>
      numbered()
        .filter((entry) => passes(entry, filter))
        .slice(-limit),
    follow(filter, listener) {
      const follower = (entry: JournalEntry) => {
        if (passes(entry, filter)) listener(entry);
      };
      followers.add(follower);
      return () => followers.delete(follower);
    },
    clear() {
      entries = [];
    },
  };
}

function passes(entry: JournalEntry, { type, device, stream, since }: JournalFilter): boolean {
  if (since !== undefined && entry.seq <= since) return false;
  if (type !== undefined && entry.type !== type) return false;
  if (device !== undefined && !('device' in entry && entry.device === device)) return false;
  return stream === undefined || ('stream' in entry && entry.stream === stream);
}

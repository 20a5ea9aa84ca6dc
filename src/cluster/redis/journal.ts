import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { matchesFilter } from '../../service/state/journal.ts';
import { createNewest } from '../../service/state/newest.ts';
import type { JournalEntry, JournalFilter, StateJournal } from '../../service/state/state.ts';
import type { RedisKeys } from './keys.ts';
import { ignoreAway, type RedisLink } from './link.ts';
import { appendScript, clearJournalScript } from './scripts/journal.ts';

/** Events within this time are written together. */
const flushEveryMs = 20;
/** Maximum number of events, and of tokens, in one command: `unpack` of Lua returns at most a few thousand values. */
const maxAtOnce = 1_000;
/** Bounds of the events that wait while Redis is away: beyond either one the oldest are dropped. */
const maxItems = 10_000;
const maxBytes = 8 * 1024 * 1024;
/** Maximum number of unexpired tokens that are shown. */
export const maxIssued = 1_000;
const readAtOnce = 500;
const readSlackMs = 2_000;

export interface SharedJournal extends StateJournal {
  rememberIssued(token: TokenClaims): void;
  /** Writes everything that waits. Throws `connect-failed`. */
  flush(): Promise<void>;
  /** Listens again over a new connection, and writes what waits. */
  resume(): Promise<void>;
}

export interface SharedJournalOptions {
  link: RedisLink;
  keys: RedisKeys;
  /** Id of this emulator. */
  emulator: string;
  /** Called with what in Redis is ignored, because another program wrote it. */
  onForeign: (what: string) => void;
}

/** What is written with one command. If Redis gets it again under the same number, it does not write it again. */
interface Batch {
  number: number;
  events: string[];
  issued: string[];
}

/** The events of all emulators in one order. `add` and `rememberIssued` do not wait: Redis gets what they note within 20 ms. */
export function createSharedJournal({
  link,
  keys,
  emulator,
  onForeign,
}: SharedJournalOptions): SharedJournal {
  const weigh = (text: string) => text.length;
  const events = createNewest<string>({ maxItems, maxBytes, weigh });
  const issued = createNewest<string>({ maxItems: maxIssued, maxBytes, weigh });
  const followers = new Set<(entry: JournalEntry) => void>();
  let timer: ClockTimer | undefined;
  let writing: Promise<void> | undefined;
  let isListening = false;
  let batches: Batch[] = [];
  let lastNumber = 0;

  /** Takes what waits. */
  const takeBatches = () => {
    const [texts, tokens] = [events.list(), issued.list()];
    events.clear();
    issued.clear();
    const taken: Batch[] = [];
    for (let at = 0; at < Math.max(texts.length, tokens.length); at += maxAtOnce) {
      const next = at + maxAtOnce;
      lastNumber += 1;
      taken.push({ number: lastNumber, events: texts.slice(at, next), issued: tokens.slice(at, next) });
    }
    return taken;
  };
  const writeBatches = async () => {
    for (let batch = batches[0]; batch !== undefined; batch = batches[0]) {
      const [, foreign] = await link.run(
        appendScript,
        [keys.service, keys.journal, keys.issued, keys.batch(emulator), keys.devices],
        [keys.events, maxIssued, batch.number, batch.issued.length, ...batch.issued, ...batch.events],
      );
      batches.shift();
      if (foreign === 1) onForeign('entries of the journal');
    }
  };
  const write = async () => {
    link.connection();
    // First those whose answer never came: only Redis knows whether they are written.
    await writeBatches();
    batches = takeBatches();
    await writeBatches();
  };
  const flush = async () => {
    timer?.cancel();
    timer = undefined;
    while (writing !== undefined) await writing;
    writing = write();
    try {
      await writing;
    } finally {
      writing = undefined;
    }
  };
  const soon = () => {
    if (timer !== undefined || !link.isUp) return;
    timer = systemClock.after(flushEveryMs, () => void flush().catch(ignoreAway), { background: true });
  };

  const deliver = (message: string) => {
    const [first, ...texts] = message.split('\n');
    texts.forEach((text, at) => {
      const entry = entryOf(Number(first) + at, text);
      if (entry === undefined) onForeign('messages about new events');
      else for (const follower of followers) follower(entry);
    });
  };
  const listen = async () => {
    if (isListening || followers.size === 0) return;
    isListening = true;
    await link.connection().listen(keys.events, deliver);
  };

  return {
    flush,
    add(event) {
      events.add(JSON.stringify(event));
      soon();
    },
    rememberIssued(token) {
      issued.add(JSON.stringify(token));
      soon();
    },
    async read(filter, limit) {
      await flush();
      const found: JournalEntry[] = [];
      for (let end = '+'; found.length < limit; ) {
        const command = ['XREVRANGE', keys.journal, end, '-', 'COUNT', String(readAtOnce)];
        const rows = (await link.connection().send(command, { slackMs: readSlackMs })) as readonly Row[];
        for (const [id, [, text]] of rows) {
          const entry = entryOf(Number.parseInt(id, 10), text);
          if (entry === undefined) onForeign('entries of the journal');
          else if (matchesFilter(entry, filter) && found.length < limit) found.push(entry);
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < readAtOnce) break;
        end = `(${last[0]}`;
      }
      return found.reverse();
    },
    follow(filter: JournalFilter, listener) {
      const follower = (entry: JournalEntry) => {
        if (matchesFilter(entry, filter)) listener(entry);
      };
      followers.add(follower);
      if (link.isUp) void listen().catch(ignoreAway);
      return () => followers.delete(follower);
    },
    async clear() {
      await flush();
      await link.run(clearJournalScript, [keys.service, keys.journal], []);
    },
    async resume() {
      isListening = false;
      await listen();
      soon();
    },
  };
}

type Row = readonly [id: string, fields: readonly [name: string, text: string]];

/** Undefined if it is not an event. */
function entryOf(seq: number, text: unknown): JournalEntry | undefined {
  const event = typeof text === 'string' && Number.isSafeInteger(seq) ? parseJson(text) : undefined;
  const isEvent = isRecord(event) && typeof event.type === 'string' && typeof event.t === 'number';
  return isEvent ? { seq, ...(event as unknown as EmulatorEvent) } : undefined;
}

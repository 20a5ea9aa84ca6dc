import type { Clock } from '../../kernel/clock.ts';
import type { Seen } from '../../rules/rule.ts';
import { requestFields } from '../../rules/token-seen.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { type Collector, createCollector } from '../../wire/collect.ts';
import type { TokenExchange } from '../../wire/exchange.ts';
import { joinTaps, type Tap } from '../../wire/tap.ts';
import type { Noted } from './view.ts';

/** Keeps what an emulator sees of a device. */
export interface Watch {
  tap(): Tap;
  note(event: EmulatorEvent): void;
  /** The exchanges so far, named. */
  seen(): Seen[];
  readonly journal: readonly Noted[];
}

/** Most messages of a stream that are kept: a minute of audio in frames of 10 ms, both ways. */
const maxMessages = 12_000;
/** Most events and exchanges: a device in a storm must not fill the memory. */
const maxEvents = 5_000;
const maxExchanges = 2_000;

export interface WatchOptions {
  clock: Clock;
  /** Only this device counts. */
  device: string | undefined;
  onChange: () => void;
}

export function createWatch({ clock, device, onChange }: WatchOptions): Watch {
  const collectors: Collector[] = [];
  const journal: Noted[] = [];
  let epoch: number | undefined;

  const isOurs = (one: Seen): boolean => device === undefined || isOf(one, device);

  return {
    journal,
    tap() {
      const collector = createCollector();
      if (collectors.length < maxExchanges) collectors.push(collector);
      let messages = 0;
      const kept: Tap = {
        ...collector.tap,
        message(message) {
          messages += 1;
          if (messages <= maxMessages) collector.tap.message?.(message);
        },
      };
      const told: Tap = { token: onChange, opened: onChange, message: onChange, closed: onChange };
      return joinTaps(kept, told);
    },
    note(event) {
      epoch ??= clock.now() - event.t;
      if (journal.length < maxEvents) journal.push({ ...event, at: epoch + event.t });
      onChange();
    },
    seen() {
      const tokens = named(
        'T',
        collectors.flatMap(({ tokens }) => tokens).sort((a, b) => a.at - b.at),
      );
      const streams = named(
        'S',
        collectors
          .flatMap((collector) => collector.stream() ?? [])
          .sort((a, b) => a.upgrade.at - b.upgrade.at),
      );
      return [...tokens, ...streams].filter(isOurs);
    },
  };
}

function named(letter: string, exchanges: readonly Seen['exchange'][]): Seen[] {
  return exchanges.map((exchange, index) => ({ id: `${letter}${index + 1}`, exchange }));
}

/** Whether an exchange is of this device, as far as it names one. */
function isOf({ id, exchange }: Seen, device: string): boolean {
  if (exchange.kind === 'token') return deviceOf(id, exchange) === device;
  const token = exchange.messages.find((message) => 'token' in message);
  const subject = token !== undefined && 'token' in token ? token.token.claims?.sub : undefined;
  return subject === undefined || subject === device;
}

function deviceOf(id: string, exchange: TokenExchange): unknown {
  const named = requestFields({ id, exchange })?.deviceId;
  return named ?? exchange.granted?.claims?.sub;
}

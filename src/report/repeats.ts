import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { escapeText } from '../kernel/escape.ts';
import { secondsText } from '../protocol/time-text.ts';
import type { EmulatorEvent } from '../service/events.ts';
import { describeEmulatorEvent } from './emulator-lines.ts';

/** An event that may repeat, and what a series of it says as one. */
export interface Repeatable {
  /** The same for all events of a series. */
  key: string;
  /** How many times this event stands for. */
  times: number;
  /** The text for `count` of them within `spanMs`. Safe for a terminal. */
  textOf(count: number, spanMs: number): string;
  /** What to do about `count` of them, for places without room for the text; undefined without advice. */
  shortOf(count: number): string | undefined;
}

/** A series goes on if its next event comes within this time. */
export const seriesPauseMs = 1_500;

/** Undefined for an event that is always reported by itself. */
export function repeatableOf(event: EmulatorEvent): Repeatable | undefined {
  const key = keyOf(event);
  if (key === undefined) return undefined;
  const times = 'count' in event && event.count !== undefined ? event.count : 1;
  const { count: _, ...alone } = event as EmulatorEvent & { count?: number };
  const { text, short } = describeEmulatorEvent(alone as EmulatorEvent);
  const asked = event.type === 'request-refused' && event.cause === 'rateLimited';
  return {
    key: `${event.type} ${key}`,
    times,
    textOf: (count, spanMs) =>
      asked
        ? `${count} requests in ${secondsText(spanMs, 1)} after ${event.status}: wait for Retry-After${whereText(event)}`
        : `${count} times in ${secondsText(spanMs, 1)}: ${text}`,
    shortOf: (count) => (short === undefined ? undefined : `${short}, ${count} times`),
  };
}

function keyOf(event: EmulatorEvent): string | undefined {
  switch (event.type) {
    case 'request-refused':
      return [event.cause, event.status, event.device ?? event.remote].join(' ');
    case 'text-received':
      return String(event.stream);
    case 'token-problem':
      return [event.cause, event.device ?? event.remote].join(' ');
    case 'tls-failed':
      return [event.why, event.remote].join(' ');
    default:
      return undefined;
  }
}

function whereText({ remote }: { remote?: string }): string {
  return remote === undefined ? '' : ` (${escapeText(remote)})`;
}

/** A series that has not ended. */
interface Series {
  event: EmulatorEvent;
  textOf: Repeatable['textOf'];
  since: number;
  until: number;
  /** How many since the first event, or since the last line. */
  count: number;
  waitMs: number;
  timer: ClockTimer;
}

/** Prints an event, or, with `again`, a series of it as one. */
export type PrintEvent = (event: EmulatorEvent, again?: string) => void;

export interface RepeatFold {
  print(event: EmulatorEvent): void;
  /** Prints what was only counted so far. */
  flush(): void;
}

/** A series that does not end is reported at longer and longer intervals, up to this one. */
const longestWaitMs = 60_000;
/** With more series, the oldest is reported and starts again. */
const mostSeries = 1_000;

/** Prints the first event of a series at once, and the rest of it as one line with count and span. */
export function foldRepeats(clock: Pick<Clock, 'after'>, print: PrintEvent): RepeatFold {
  const open = new Map<string, Series>();
  const report = (series: Series) => {
    const { event, textOf, count, since, until } = series;
    if (count === 1) print(event);
    else if (count > 1) print(event, textOf(count, until - since));
    series.count = 0;
    series.since = until;
  };
  const end = (key: string) => {
    const series = open.get(key);
    if (series === undefined) return;
    open.delete(key);
    series.timer.cancel();
    report(series);
  };
  const look = (key: string) => {
    const series = open.get(key);
    if (series === undefined) return;
    if (series.count === 0) {
      open.delete(key);
      return;
    }
    report(series);
    series.waitMs = Math.min(2 * series.waitMs, longestWaitMs);
    series.timer = later(key, series.waitMs);
  };
  const later = (key: string, ms: number) => clock.after(ms, () => look(key), { background: true });
  const flush = () => {
    for (const key of [...open.keys()]) end(key);
  };
  return {
    flush,
    print(event) {
      const one = repeatableOf(event);
      if (one === undefined) {
        if (event.type === 'stopping') flush();
        if (event.type === 'stream-closed') end(`text-received ${event.stream}`);
        print(event);
        return;
      }
      const { key, times, textOf } = one;
      const before = open.get(key);
      if (before !== undefined && event.t - before.until >= seriesPauseMs) end(key);
      const series = open.get(key);
      if (series === undefined) {
        const [oldest] = open.keys();
        if (open.size >= mostSeries && oldest !== undefined) end(oldest);
        const { t } = event;
        const timer = later(key, seriesPauseMs);
        open.set(key, { event, textOf, since: t, until: t, count: 0, waitMs: seriesPauseMs, timer });
        print(event);
        return;
      }
      Object.assign(series, { event, textOf, until: event.t, count: series.count + times });
    },
  };
}

import type { Side } from '../wire/exchange.ts';
import type { ProxyEvents } from './proxy-events.ts';

/** Something held against a side. */
export interface Entry {
  side: Side;
  rule: string;
  message: string;
  value: string;
  /** A rule is broken; otherwise it is unusual, or left open. */
  isFault: boolean;
  stream: number | undefined;
  device: string | undefined;
  count: number;
}

export interface JudgementCounts {
  violations: number;
  remarks: number;
}

/** Emits each entry once for a stream, or for a device where it is about no stream. */
export interface JudgementBook {
  note(entry: Entry): void;
  counts(): JudgementCounts;
}

/** Entries about no stream that are remembered; beyond it the oldest may be told again. */
const maxKept = 5_000;

export function createJudgementBook({
  events,
  isStrict,
}: {
  events: ProxyEvents;
  isStrict: boolean;
}): JudgementBook {
  const told = new Set<string>();
  const counts: JudgementCounts = { violations: 0, remarks: 0 };
  const keyOf = ({ rule, isFault, stream, device }: Entry) =>
    `${rule} ${isFault} ${stream === undefined ? `of ${device}` : stream}`;
  return {
    note(entry) {
      const key = keyOf(entry);
      if (told.has(key)) return;
      told.add(key);
      const [oldest] = told;
      if (told.size > maxKept && oldest !== undefined) told.delete(oldest);
      const { isFault, stream, device, ...rest } = entry;
      const type = isFault || isStrict ? 'violation' : 'remark';
      counts[type === 'violation' ? 'violations' : 'remarks'] += 1;
      events.emit({
        type,
        ...rest,
        ...(stream === undefined ? {} : { stream }),
        ...(device === undefined ? {} : { device }),
      });
    },
    counts: () => ({ ...counts }),
  };
}

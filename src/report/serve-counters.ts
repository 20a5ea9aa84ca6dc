import type { EmulatorEvent } from '../service/events.ts';

/** Counts of what an emulator has done since it started. */
export interface ServeCounters {
  tokens: number;
  refused: number;
  streams: number;
  turns: number;
  replies: number;
  bargeIns: number;
  faults: number;
  findings: number;
}

export const noCounters: ServeCounters = {
  tokens: 0,
  refused: 0,
  streams: 0,
  turns: 0,
  replies: 0,
  bargeIns: 0,
  faults: 0,
  findings: 0,
};

const counterOf: Partial<Record<EmulatorEvent['type'], keyof ServeCounters>> = {
  'token-issued': 'tokens',
  'request-refused': 'refused',
  'stream-authorised': 'streams',
  'turn-ended': 'turns',
  'reply-started': 'replies',
  'fault-struck': 'faults',
  'device-finding': 'findings',
  'service-finding': 'findings',
};

/** The counters after one more event. */
export function countEvent(counters: ServeCounters, event: EmulatorEvent): ServeCounters {
  const isBargeIn = event.type === 'reply-ended' && event.bargeIn;
  const name = isBargeIn ? 'bargeIns' : counterOf[event.type];
  if (name === undefined) return counters;
  const count = 'count' in event ? event.count : undefined;
  return { ...counters, [name]: counters[name] + (count ?? 1) };
}

/** The counters in the order of their texts. */
const nouns: readonly [counter: keyof ServeCounters, one: string, many?: string][] = [
  ['tokens', 'token'],
  ['streams', 'stream'],
  ['turns', 'turn'],
  ['replies', 'reply', 'replies'],
  ['bargeIns', 'barge-in'],
  ['refused', 'refused', 'refused'],
  ['faults', 'fault'],
  ['findings', 'finding'],
];

/** All counts above zero, and always tokens and streams. */
export function countersShown(counters: ServeCounters): { name: string; count: number }[] {
  return nouns
    .map(([counter, one, many = `${one}s`]) => {
      const count = counters[counter];
      return { name: count === 1 ? one : many, count };
    })
    .filter(({ count }, index) => count > 0 || index < 2);
}

/** `41 tokens, 3 refused, …` */
export function counterTexts(counters: ServeCounters): string[] {
  return countersShown(counters).map(({ name, count }) => `${count} ${name}`);
}

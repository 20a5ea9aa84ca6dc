import type { EmulatorEvent } from '../service/events.ts';

/** What is counted, in the order of the texts: singular and plural. */
const nouns = {
  tokens: ['token', 'tokens'],
  streams: ['stream', 'streams'],
  turns: ['turn', 'turns'],
  replies: ['reply', 'replies'],
  bargeIns: ['barge-in', 'barge-ins'],
  refused: ['refused', 'refused'],
  faults: ['fault', 'faults'],
  findings: ['finding', 'findings'],
  violations: ['violation', 'violations'],
  remarks: ['remark', 'remarks'],
} as const;

type Counter = keyof typeof nouns;
const allCounters = Object.keys(nouns) as Counter[];

/** Counts of what an emulator has done since it started. */
export type ServeCounters = Readonly<Record<Counter, number>>;

export const noCounters = Object.fromEntries(allCounters.map((counter) => [counter, 0])) as ServeCounters;

const counterOf: Partial<Record<EmulatorEvent['type'], Counter>> = {
  'token-issued': 'tokens',
  'request-refused': 'refused',
  'stream-authorised': 'streams',
  'turn-ended': 'turns',
  'reply-started': 'replies',
  'fault-struck': 'faults',
  'device-finding': 'findings',
  'service-finding': 'findings',
  violation: 'violations',
  remark: 'remarks',
};

/** The counters after one more event. */
export function countEvent(counters: ServeCounters, event: EmulatorEvent): ServeCounters {
  const isBargeIn = event.type === 'reply-ended' && event.bargeIn;
  const name = isBargeIn ? 'bargeIns' : counterOf[event.type];
  if (name === undefined) return counters;
  // The count of a violation or a remark is how often it was seen so far.
  const count = event.type === 'request-refused' ? (event.count ?? 1) : 1;
  return { ...counters, [name]: counters[name] + count };
}

/** All counts above zero, and always tokens and streams. */
export function countersShown(counters: ServeCounters): { name: string; count: number }[] {
  return allCounters
    .map((counter) => {
      const [one, several] = nouns[counter];
      const count = counters[counter];
      return { name: count === 1 ? one : several, count };
    })
    .filter(({ count }, index) => count > 0 || index < 2);
}

/** `41 tokens, 3 refused, …` */
export function counterTexts(counters: ServeCounters): string[] {
  return countersShown(counters).map(({ name, count }) => `${count} ${name}`);
}

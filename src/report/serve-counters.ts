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
};

/** The counters after one more event. */
export function countEvent(counters: ServeCounters, event: EmulatorEvent): ServeCounters {
  const isBargeIn = event.type === 'reply-ended' && event.bargeIn;
  const name = isBargeIn ? 'bargeIns' : counterOf[event.type];
  if (name === undefined) return counters;
  const count = 'count' in event ? event.count : undefined;
  return { ...counters, [name]: counters[name] + (count ?? 1) };
}

/** `41 tokens, 3 refused, …`: all counts above zero, and always tokens and streams. */
export function counterTexts(counters: ServeCounters): string[] {
  const texts: [count: number, one: string, many: string][] = [
    [counters.tokens, 'token', 'tokens'],
    [counters.streams, 'stream', 'streams'],
    [counters.turns, 'turn', 'turns'],
    [counters.replies, 'reply', 'replies'],
    [counters.bargeIns, 'barge-in', 'barge-ins'],
    [counters.refused, 'refused', 'refused'],
    [counters.faults, 'fault', 'faults'],
    [counters.findings, 'finding', 'findings'],
  ];
  return texts
    .filter(([count], index) => count > 0 || index < 2)
    .map(([count, one, many]) => `${count} ${count === 1 ? one : many}`);
}

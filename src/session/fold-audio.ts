import type { AudioDirection, AudioFacts, SessionEvent } from './events.ts';

type AudioEvent = Extract<SessionEvent, { type: 'audio' }>;

/** Folds the events of single frames into one a direction and `everyMs`; all others pass as they are, in order. */
export async function* foldAudio(
  events: AsyncIterable<SessionEvent>,
  everyMs: number,
): AsyncGenerator<SessionEvent> {
  const open = new Map<AudioDirection, { since: number; event: AudioEvent }>();
  const flush = (now: number) => {
    const due = [...open].filter(([, { since }]) => now - since >= everyMs);
    for (const [direction] of due) open.delete(direction);
    return due.map(([, { event }]) => event).sort((a, b) => a.t - b.t);
  };
  for await (const event of events) {
    if (event.type !== 'audio') {
      // What ends a phase is told after the audio that came before it.
      yield* flush(endsPhase(event) ? Number.POSITIVE_INFINITY : event.t);
      yield event;
      continue;
    }
    yield* flush(event.t);
    const before = open.get(event.direction);
    if (before === undefined) open.set(event.direction, { since: event.t, event });
    else before.event = { ...event, ...sum(before.event, event) };
  }
}

function endsPhase({ type }: SessionEvent): boolean {
  return type === 'state' || type === 'close' || type === 'summary';
}

function sum(a: AudioFacts, b: AudioFacts): Omit<AudioFacts, 'direction'> {
  return {
    frames: a.frames + b.frames,
    bytes: a.bytes + b.bytes,
    audioMs: a.audioMs + b.audioMs,
    rmsDbfs: Math.max(a.rmsDbfs, b.rmsDbfs),
    peakDbfs: Math.max(a.peakDbfs, b.peakDbfs),
  };
}

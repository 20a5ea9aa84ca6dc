import type { AudioDirection, AudioFacts, SessionEvent } from './events.ts';

export type AudioEvent = Extract<SessionEvent, { type: 'audio' }>;

/**
 * Folds the events of single frames into one per direction and `everyMs`. All others pass unchanged, in order. A folded
 * event has the time of the event after it.
 */
export async function* foldAudio(
  events: AsyncIterable<SessionEvent>,
  everyMs: number,
): AsyncGenerator<SessionEvent> {
  const open = new Map<AudioDirection, { since: number; event: AudioEvent }>();
  const flush = function* (now: number, isDue: (since: number) => boolean) {
    for (const [direction, { since, event }] of open) {
      if (!isDue(since)) continue;
      open.delete(direction);
      yield { ...event, t: now };
    }
  };
  let lastAt = 0;
  for await (const event of events) {
    lastAt = event.t;
    // Audio comes before the end of its phase.
    yield* flush(event.t, (since) => endsPhase(event) || event.t - since >= everyMs);
    if (event.type !== 'audio') {
      yield event;
      continue;
    }
    const before = open.get(event.direction);
    if (before === undefined) open.set(event.direction, { since: event.t, event });
    else before.event = { ...event, ...sumAudio(before.event, event) };
  }
  yield* flush(lastAt, () => true);
}

function endsPhase({ type }: SessionEvent): boolean {
  return type === 'state' || type === 'close' || type === 'summary';
}

/** Adds two stretches of audio. */
export function sumAudio(a: AudioFacts, b: AudioFacts): Omit<AudioFacts, 'direction'> {
  return {
    frames: a.frames + b.frames,
    bytes: a.bytes + b.bytes,
    audioMs: a.audioMs + b.audioMs,
    rmsDbfs: Math.max(a.rmsDbfs, b.rmsDbfs),
    peakDbfs: Math.max(a.peakDbfs, b.peakDbfs),
    ...(a.clipped || b.clipped ? { clipped: true as const } : {}),
  };
}

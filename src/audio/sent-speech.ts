import { createSpeechGate, type GateEvent, gateDelayMs } from './speech-gate.ts';

/** A turn of speech begins or ends in sent audio. */
export type SpeechMoment = GateEvent & {
  /** When the message with this moment was sent, in monotonic milliseconds. */
  readonly leftAt: number;
};

/**
 * Finds speech in sent audio, and when it was sent. The gate reports an end of speech only after a pause, so items that arrive
 * meanwhile are held. They expire by the length of sent audio, so that it works at any pace.
 */
export interface SentSpeech<Item> {
  /** Takes 16 kHz s16le mono of any number of bytes. */
  push(pcm: Buffer, now: number): SpeechMoment[];
  /** Ends an open turn. */
  end(): SpeechMoment[];
  readonly speaking: boolean;
  /** Holds an item that arrives during speech. Returns items that are older than any end of speech that may still come. */
  hold(item: Item): Item[];
  /** Returns the held items, oldest first, and clears them. */
  release(): Item[];
}

/** Maximum number of held items. If sending stops during speech, they never expire; beyond this the older half is dropped. */
const maxHeld = 4_000;

export function createSentSpeech<Item>(): SentSpeech<Item> {
  const gate = createSpeechGate();
  const departures: { positionMs: number; at: number }[] = [];
  let held: { positionMs: number; item: Item }[] = [];

  const locate = (event: GateEvent): SpeechMoment => {
    const carries =
      event.type === 'speech-start'
        ? ({ positionMs }: { positionMs: number }) => positionMs > event.atMs
        : ({ positionMs }: { positionMs: number }) => positionMs >= event.atMs;
    return { ...event, leftAt: departures.find(carries)?.at ?? 0 };
  };
  return {
    push(pcm, now) {
      // Its position is that of the message before it, which would keep it from expiring.
      if (pcm.length === 0) return [];
      const oldestMs = gate.positionMs - gateDelayMs;
      while ((departures[0]?.positionMs ?? oldestMs) < oldestMs) departures.shift();
      const events = gate.push(pcm);
      departures.push({ positionMs: gate.positionMs, at: now });
      return events.map(locate);
    },
    end: () => gate.end().map(locate),
    get speaking() {
      return gate.speaking;
    },
    hold(item) {
      held.push({ positionMs: gate.positionMs, item });
      const oldestMs = gate.positionMs - gateDelayMs;
      const count =
        held.length > maxHeld ? maxHeld / 2 : held.findIndex(({ positionMs }) => positionMs >= oldestMs);
      return held.splice(0, count).map((one) => one.item);
    },
    release() {
      const items = held.map((one) => one.item);
      held = [];
      return items;
    },
  };
}

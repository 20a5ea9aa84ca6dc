import type { HeardVoice } from '../../messages.ts';

/** One voice of a stream as it was told so far. */
export interface LiveVoice {
  /** Takes what was told of it. Before the peak `heardFrom` nobody listened: what is known of it stays. */
  add(told: HeardVoice, heardFrom: number): void;
  /** A byte for each peak. */
  readonly peaks: Uint8Array;
  /** By start, in order. */
  readonly speech: HeardVoice['speech'];
}

export function createLiveVoice(): LiveVoice {
  let bytes = new Uint8Array(1_024);
  let count = 0;
  const speech: HeardVoice['speech'] = [];
  return {
    add(told, heardFrom) {
      const all = Uint8Array.from(atob(told.peaks), (character) => character.charCodeAt(0));
      const unheard = Math.min(all.length, Math.max(0, heardFrom - told.from));
      const added = all.subarray(unheard);
      const from = told.from + unheard;
      const end = from + added.length;
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.max(end, bytes.length * 2));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(added, from);
      count = Math.max(count, end);
      for (const one of told.speech) {
        const at = speech.findLastIndex(({ startMs }) => startMs === one.startMs);
        if (at < 0) speech.push(one);
        else speech[at] = one;
      }
    },
    get peaks() {
      return bytes.subarray(0, count);
    },
    speech,
  };
}

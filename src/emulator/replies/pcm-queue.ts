import { bytesPerSample } from '../../protocol/audio-format.ts';
import type { Playable } from '../../service/streams/playable.ts';

/** A playable of PCM that is still being produced. */
export interface PcmQueue extends Playable {
  push(pcm: Buffer): void;
  /** Bytes that are waiting. */
  readonly bytes: number;
}

/** Frames without audio after which the utterance counts as ended, not as delayed. */
const patientFrames = 10;

export function createPcmQueue(): PcmQueue {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let missed = 0;

  const dequeue = (count: number): Buffer => {
    const [first = Buffer.alloc(0), ...others] = chunks;
    const all = others.length === 0 ? first : Buffer.concat(chunks);
    chunks = [all.subarray(count)];
    bytes -= count;
    return all.subarray(0, count);
  };

  return {
    get bytes() {
      return bytes;
    },
    push(pcm) {
      chunks.push(pcm);
      bytes += pcm.length;
    },
    /** An empty frame while more may come; after `patientFrames` of them the rest, or undefined if there is none. */
    read(wanted) {
      if (bytes >= wanted) {
        missed = 0;
        return dequeue(wanted);
      }
      missed += 1;
      if (missed <= patientFrames) return Buffer.alloc(0);
      missed = 0;
      const rest = bytes - (bytes % bytesPerSample);
      return rest === 0 ? undefined : dequeue(rest);
    },
  };
}

import { bytesPerSample } from '../../protocol/audio-format.ts';
import type { Playable } from './playable.ts';

/** PCM that is said while it is still being made. */
export interface PcmQueue extends Playable {
  push(pcm: Buffer): void;
  /** Bytes that wait to be said. */
  readonly bytes: number;
}

/** Frames without audio after which what was being said has ended, rather than been held up. */
const patientFrames = 10;

export function createPcmQueue(): PcmQueue {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let missed = 0;

  const take = (count: number): Buffer => {
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
    /** An empty frame while more may come; what is left over is said when no more does. */
    read(wanted) {
      if (bytes >= wanted) {
        missed = 0;
        return take(wanted);
      }
      missed += 1;
      if (missed <= patientFrames) return Buffer.alloc(0);
      missed = 0;
      const rest = bytes - (bytes % bytesPerSample);
      return rest === 0 ? undefined : take(rest);
    },
  };
}

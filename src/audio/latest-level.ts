import type { Clock } from '../kernel/clock.ts';
import { bytesForMs, bytesPerSample } from '../protocol/audio-format.ts';
import { floorDbfs, measureLevel, roundDbfs } from './level.ts';

/** How much audio passes between two kept messages: each kept one costs garbage collection. */
const passedBytes = bytesForMs(60);
/** Older audio does not count. */
const heardMs = 250;
const keptBytes = bytesForMs(heardMs);

/** The current level of a voice. It is measured only on request, so passing audio costs almost nothing. */
export class LatestLevel {
  private readonly clock: Pick<Clock, 'now'>;
  /** Its first sample begins at the byte `from`. */
  private latest: { pcm: Buffer; from: number; at: number } | undefined;
  private passed = passedBytes;
  /** Whether the next message begins within a sample. */
  private isOdd = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  note(pcm: Buffer): void {
    const from = this.isOdd ? 1 : 0;
    if (pcm.length % bytesPerSample !== 0) this.isOdd = !this.isOdd;
    this.passed += pcm.length;
    if (this.passed <= passedBytes) return;
    this.passed = 0;
    // A message may be large, and the stream may then be silent for a long time.
    const more = Math.max(0, pcm.length - from - keptBytes);
    const start = from + more + (more % bytesPerSample);
    const at = this.clock.now();
    this.latest = more === 0 ? { pcm, from, at } : { pcm: Buffer.from(pcm.subarray(start)), from: 0, at };
  }

  /** The RMS of a recent message in dBFS; −100 if there was none. */
  read(): number {
    if (this.latest === undefined || this.clock.now() - this.latest.at > heardMs) return floorDbfs;
    const { pcm, from } = this.latest;
    return roundDbfs(measureLevel(from === 0 ? pcm : pcm.subarray(from)).rmsDbfs);
  }
}

import type { Clock } from '../kernel/clock.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { measureLevel } from './level.ts';

/** So much audio passes before a message is kept again: what is kept costs the collector. */
const passedBytes = bytesForMs(60);
/** Audio that is older than this is heard no more. */
const heardMs = 250;
const silenceDbfs = -100;

/** How loud a voice is right now. Audio that passes costs next to nothing: it is measured only when somebody asks. */
export class LatestLevel {
  private readonly clock: Pick<Clock, 'now'>;
  private latest: { pcm: Buffer; at: number } | undefined;
  private passed = passedBytes;

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  note(pcm: Buffer): void {
    this.passed += pcm.length;
    if (this.passed <= passedBytes) return;
    this.passed = 0;
    this.latest = { pcm, at: this.clock.now() };
  }

  /** RMS of a message of late, in dBFS; -100 where there was none. */
  read(): number {
    if (this.latest === undefined || this.clock.now() - this.latest.at > heardMs) return silenceDbfs;
    return Math.round(measureLevel(this.latest.pcm).rmsDbfs * 10) / 10;
  }
}

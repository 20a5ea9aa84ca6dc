import { measureLevel } from '../audio/level.ts';
import type { Clock } from '../clock.ts';

/** Audio that is older than this is heard no more. */
const heardMs = 250;
const silenceDbfs = -100;

/** How loud a voice is right now. Audio that passes costs next to nothing: it is measured only when somebody asks. */
export function createLatestLevel(clock: Clock) {
  let latest: { pcm: Buffer; at: number } | undefined;
  return {
    note(pcm: Buffer) {
      latest = { pcm, at: clock.now() };
    },
    /** RMS of the newest message, in dBFS; -100 where there was none of late. */
    read(): number {
      if (latest === undefined || clock.now() - latest.at > heardMs) return silenceDbfs;
      return Math.round(measureLevel(latest.pcm).rmsDbfs * 10) / 10;
    },
  };
}

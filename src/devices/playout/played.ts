import { readFileSync } from 'node:fs';
import { type Clock, repeat } from '../../kernel/clock.ts';
import { msForBytes } from '../../protocol/audio-format.ts';
import type { DeviceProcess } from '../process/device-process.ts';

export interface PlayedReport {
  /** How much audio a program has played, plus or minus a constant. */
  readonly playedMs: number;
  /** How much its server and its device have accepted and not played, if it tells that. The rest waits before them. */
  readonly heldMs?: number;
}

/** Calls back with how much audio a program has played, or when it had nothing to play. */
export type Played = (listener: (report: PlayedReport | 'underrun') => void) => void;

const askEveryMs = 60;

/** Read from the program's own lines, such as `Time: 1.234 sec; Latency: 20000 usec.` */
export function toldPlayed(child: DeviceProcess): Played {
  return (listener) =>
    child.onStatus(({ groups: { seconds, held, underrun } = {} }) => {
      if (underrun !== undefined) return listener('underrun');
      if (seconds === undefined) return;
      const playedMs = Number(seconds) * 1_000;
      listener(held === undefined ? { playedMs } : { playedMs, heldMs: Number(held) / 1_000 });
    });
}

/**
 * Read from Linux: how much input the program has read, a little more than it has played. Programs for ALSA and sox
 * read when their device has room. Silent on other systems.
 */
export function readPlayed(child: DeviceProcess, clock: Clock): Played {
  return (listener) => {
    const timer = repeat(clock, askEveryMs, () => {
      const bytes = readBytes(child.pid);
      if (bytes === undefined) timer.cancel();
      else listener({ playedMs: msForBytes(bytes) });
    });
    void child.ended.then(() => timer.cancel());
  };
}

function readBytes(pid: number | undefined): number | undefined {
  try {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

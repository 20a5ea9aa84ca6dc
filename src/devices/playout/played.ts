import { readFileSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { msForBytes } from '../../protocol/audio-format.ts';
import type { DeviceProcess } from '../process/device-process.ts';

/** Calls back with how much audio a program has played, in milliseconds, plus or minus a constant. */
export type Played = (listener: (playedMs: number) => void) => void;

const askEveryMs = 60;

/** Read from the program's own lines, such as `Time: 1.234 sec`. */
export function toldPlayed(child: DeviceProcess): Played {
  return (listener) => child.onStatus(([, seconds]) => listener(Number(seconds) * 1_000));
}

/**
 * Read from Linux: how much input the program has read, a little more than it has played. Programs for ALSA and sox
 * read when their device has room. Silent on other systems.
 */
export function readPlayed(child: DeviceProcess, clock: Clock): Played {
  return (listener) => {
    const ask = () => {
      const bytes = readBytes(child.pid);
      if (bytes === undefined) return;
      listener(msForBytes(bytes));
      timer = clock.after(askEveryMs, ask, { background: true });
    };
    let timer = clock.after(askEveryMs, ask, { background: true });
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

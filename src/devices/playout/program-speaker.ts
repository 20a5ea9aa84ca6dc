import type { Writable } from 'node:stream';
import { type Clock, waitUntil } from '../../kernel/clock.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import type { ProgramBackend } from '../backends/backend.ts';
import { deviceError } from '../device-error.ts';
import type { DeviceProcess } from '../process/device-process.ts';
import { createLag } from './lag.ts';
import { createLoss } from './loss.ts';
import { type Played, readPlayed, toldPlayed } from './played.ts';
import { frameMs, type Speaker } from './speaker.ts';

/** A program that ends as soon as it cannot play does so within this time. */
const settleMs = 250;
/** A program that tells what it has played, and says nothing for so long, is not waited for. */
const connectMs = 3_000;
/** Opens the device of a program that waits for audio. */
const firstSilenceMs = 400;
/** A program that tells what it has played, and played nothing for so long, has lost its device. */
const stallMs = 3_000;
/** More than this beyond what the system holds for a program: it takes nothing. */
const maxStuckBytes = bytesForMs(1_000);
/** So late, frames are counted from now on: after a pause, or when this process was held up. */
const maxLateMs = 60;
/** A program that goes on playing for longer than this after its input has ended is ended. */
const programTailMs = 1_000;
/** A program that was given nothing for this long has played what it had: what it tells then means nothing. */
const busyMs = 40;

function refuse(): never {
  throw deviceError('it does not begin to play');
}

/**
 * A program takes what it is given, seconds ahead if it is let: this machine's clock sets the pace, and what the program
 * has played says when it was held up and is to wait.
 */
export async function openProgram(
  backend: ProgramBackend,
  child: DeviceProcess,
  clock: Clock,
): Promise<Speaker> {
  const { signal, lost, lose } = createLoss(child);
  const input = child.pcm as Writable;
  let nextAt = Number.NEGATIVE_INFINITY;
  let writtenMs = backend.startsWithAudio ? firstSilenceMs : 0;
  let delayMs = backend.playbackMs;
  let holes = 0;
  let lateMs = 0;
  let lag = createLag();
  let playedBefore = 0;
  let advancedAt = Number.POSITIVE_INFINITY;
  const listen: Played = backend.status === undefined ? readPlayed(child, clock) : toldPlayed(child);
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  listen((playedMs) => {
    open();
    const now = clock.now();
    if (playedMs > playedBefore) advancedAt = now;
    const isPlaying = playedMs > playedBefore && now - nextAt < busyMs;
    playedBefore = playedMs;
    if (!isPlaying) return;
    if (backend.status !== undefined) delayMs = writtenMs - playedMs;
    const overMs = lag.note(writtenMs - playedMs, now);
    if (overMs === 0) return;
    holes += 1;
    lateMs += overMs;
    nextAt += overMs;
  });
  // A program that tells what it has played has reached its device.
  const limit = new AbortController();
  if (backend.startsWithAudio) input.write(Buffer.alloc(bytesForMs(firstSilenceMs)));
  const settled = waitUntil(
    clock,
    clock.now() + (backend.status === undefined ? settleMs : connectMs),
    limit.signal,
  );
  settled.catch(() => {});
  await Promise.race([opened, backend.status === undefined ? settled : settled.then(refuse), lost]);
  limit.abort();
  return {
    backend: backend.name,
    lost,
    get delayMs() {
      return delayMs;
    },
    get holes() {
      return holes;
    },
    async ready() {
      if (input.writableLength > maxStuckBytes) lose('the program takes no audio');
      const now = clock.now();
      // After a pause it has had nothing to play.
      if (now - nextAt > maxLateMs) {
        nextAt = now;
        advancedAt = now;
        lag = createLag();
      } else if (backend.status !== undefined && now - advancedAt > stallMs) {
        lose('the program plays nothing', { stalled: true });
      }
      signal.throwIfAborted();
      // It may be put off meanwhile.
      while (clock.now() < nextAt) await waitUntil(clock, nextAt, signal);
    },
    write(frame) {
      nextAt += frameMs;
      writtenMs += frameMs;
      input.write(frame);
    },
    takeLateMs() {
      const ms = lateMs;
      lateMs = 0;
      return ms;
    },
    // At the end of its input it plays the rest, and ends by itself.
    finish: () => child.stop(programTailMs),
    stop: () => child.kill(),
  };
}

import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { type Clock, repeat, waitUntil } from '../../kernel/clock.ts';
import { createDeferred } from '../../kernel/promises.ts';
import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';
import type { ProgramBackend } from '../backend.ts';
import { deviceError } from '../device-error.ts';
import type { DeviceProcess } from '../process/device-process.ts';
import { createLag } from './lag.ts';
import { createLoss, type Speaker, speakerFrameMs } from './speaker.ts';

/** A program that cannot play ends within this time. */
const settleMs = 250;
/** A program that reports progress must do so within this time. */
const connectMs = 3_000;
/** Length of silence that makes a program open its device if it waits for audio. */
const firstSilenceMs = 400;
/** A program that reports no progress for this long has lost its device. */
const stallMs = 3_000;
/** If more than this waits outside the pipe, the program accepts no audio. */
const maxStuckBytes = bytesForMs(1_000);
/** If a frame is later than this, pacing starts again, such as after a pause or a hold-up of this process. */
const maxLateMs = 60;
/** A program may keep playing for this long after its input has ended. */
const programTailMs = 1_000;
/** After this long without audio a program has played everything, and its reports mean nothing. */
const busyMs = 40;

function refuse(): never {
  throw deviceError('it does not start playing');
}

/**
 * A speaker that is a program. A program accepts seconds of audio ahead of time, so the clock of this machine sets the pace.
 * The program's progress shows when it was held up and must receive less.
 */
export async function openProgram(
  backend: ProgramBackend,
  child: DeviceProcess,
  clock: Clock,
): Promise<Speaker> {
  const { signal, lost, lose } = createLoss(child);
  const input = child.pcm as Writable;
  const { cushionMs = 0 } = backend;
  const cushion = Buffer.alloc(bytesForMs(cushionMs));
  let nextAt = Number.NEGATIVE_INFINITY;
  let writtenMs = backend.startsWithAudio ? firstSilenceMs : 0;
  let delayMs = backend.playbackMs;
  let holes = 0;
  let lateMs = 0;
  let lag = createLag();
  let dryAt = Number.NEGATIVE_INFINITY;
  let playedBefore = 0;
  let advancedAt = Number.POSITIVE_INFINITY;
  const listen: Played = backend.status === undefined ? readPlayed(child, clock) : watchPlayed(child);
  const opened = createDeferred();
  /** Whether it had nothing to play: then pacing starts with the next frame. */
  const isPaused = (now: number) => now - nextAt > maxLateMs;
  listen((report) => {
    // What Linux tells of a program, it tells of one that is about to fail too.
    if (backend.status !== undefined) opened.resolve();
    const now = clock.now();
    if (report === 'underrun') {
      dryAt = now;
      // It waits until it has more audio than before, and plays later from then on.
      lag = createLag();
      return;
    }
    const { playedMs, heldMs } = report;
    if (playedMs > playedBefore) advancedAt = now;
    const isPlaying = playedMs > playedBefore && now - nextAt < busyMs;
    playedBefore = playedMs;
    if (!isPlaying) return;
    if (backend.status !== undefined) delayMs = writtenMs - playedMs;
    // As if audio were written continuously instead of in frames.
    const behindMs = writtenMs - (nextAt - now) - playedMs;
    const overMs = lag.judge({ behindMs, heldMs }, now);
    if (overMs === 0) return;
    holes += 1;
    lateMs += overMs;
    nextAt += overMs;
  });
  // A program that reports progress has opened its device.
  const limit = new AbortController();
  if (backend.startsWithAudio) input.write(Buffer.alloc(bytesForMs(firstSilenceMs)));
  const settled = waitUntil(
    clock,
    clock.now() + (backend.status === undefined ? settleMs : connectMs),
    limit.signal,
  );
  settled.catch(() => {});
  const patience = backend.status === undefined ? settled : settled.then(refuse);
  await Promise.race([opened.promise, patience, lost]).finally(() => limit.abort());
  // Audio right after the first silence would stay late by the length of that silence.
  if (backend.startsWithAudio) nextAt = clock.now() + firstSilenceMs;
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
      if (input.writableLength > maxStuckBytes) lose('the program accepts no audio');
      const now = clock.now();
      if (backend.status !== undefined && !isPaused(now) && now - advancedAt > stallMs) {
        lose('the program plays nothing', { stalled: true });
      }
      signal.throwIfAborted();
      // `nextAt` may change in the meantime.
      while (clock.now() < nextAt) await waitUntil(clock, nextAt, signal);
    },
    write(frame) {
      const now = clock.now();
      // The program ran dry in the middle of the audio.
      if (now - dryAt < maxLateMs) holes += 1;
      dryAt = Number.NEGATIVE_INFINITY;
      if (isPaused(now)) {
        nextAt = now;
        advancedAt = now;
        lag = createLag();
        input.write(cushion);
        writtenMs += cushionMs;
      }
      nextAt += speakerFrameMs * (1 + lag.easing);
      writtenMs += speakerFrameMs;
      input.write(frame);
    },
    drainLateMs() {
      const ms = lateMs;
      lateMs = 0;
      return ms;
    },
    // At the end of its input it plays the rest and ends by itself.
    finish: () => child.stop(programTailMs),
    stop: () => child.kill(),
  };
}

interface PlayedReport {
  /** How much audio a program has played, plus or minus a constant. */
  readonly playedMs: number;
  /** How much its server and its device have accepted but not played, if it reports that. The rest waits before them. */
  readonly heldMs?: number;
}

/** Reports how much audio a program has played, or that it had nothing to play. */
type Played = (listener: (report: PlayedReport | 'underrun') => void) => void;

const askEveryMs = 60;

/** From the program's own lines, such as `Time: 1.234 sec; Latency: 20000 usec.` */
function watchPlayed(child: DeviceProcess): Played {
  return (listener) =>
    child.onStatus(({ groups: { seconds, held, underrun } = {} }) => {
      if (underrun !== undefined) return listener('underrun');
      if (seconds === undefined) return;
      const playedMs = Number(seconds) * 1_000;
      listener(held === undefined ? { playedMs } : { playedMs, heldMs: Number(held) / 1_000 });
    });
}

/**
 * From Linux: how much input the program has read, which is a little more than it has played. Programs for ALSA and sox read
 * when their device has room. Reports nothing on other systems.
 */
function readPlayed(child: DeviceProcess, clock: Clock): Played {
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

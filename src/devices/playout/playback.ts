import type { Clock } from '../../kernel/clock.ts';
import { toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import type { Notices } from '../notices.ts';
import { reopen } from '../process/reopen.ts';
import { createJitterBuffer, type JitterStats } from './jitter-buffer.ts';
import type { Speaker } from './speaker.ts';

/** The AI's voice on a loudspeaker: takes audio as it comes, without ever making the receiving side wait. */
export interface Playback {
  readonly backend: string;
  /** Rejects, with `audio-device`, only once the loudspeaker is lost. */
  write(pcm: Buffer): Promise<void>;
  /** Throws away what waits: somebody interrupts. */
  flush(): void;
  /** Plays what waits to its end and lets the device go; after a failure of the session, or once the signal is aborted, at once. */
  close(failure?: VoicectlError): Promise<void>;
  /** Resolves with the error when the loudspeaker is lost. */
  readonly failed: Promise<VoicectlError>;
  readonly underruns: number;
  readonly stats: JitterStats;
}

export interface PlaybackOptions {
  /** The signal ends the opening. */
  open: (signal: AbortSignal) => Promise<Speaker>;
  clock: Clock;
  notices: Notices;
  /** 1 leaves the loudness as it is. */
  volume: number;
  /** A device that is lost may come back within this time; 0: the session ends. */
  deviceTimeoutMs: number;
  /** Ends the playing of what waits. */
  signal: AbortSignal;
}

/** A native library that has got stuck, as after an underflow, is started anew once; a sound server that hangs is not waited for. */
const restartMs = 1_000;
/** It is played to for this long after that before it may be started anew once more. */
const playedWellMs = 10_000;

/** Opens a loudspeaker. Throws `audio-device`. */
export async function openPlayback(options: PlaybackOptions): Promise<Playback> {
  const { open, clock, notices, volume, signal } = options;
  let speaker = await open(signal);
  const buffer = createJitterBuffer({ volume });
  const ending = new AbortController();
  let isClosing = false;
  let isCut = false;
  let isAway = false;
  let restartedAt = Number.NEGATIVE_INFINITY;
  let failure: VoicectlError | undefined;
  let wake = () => {};
  let fail: (failure: VoicectlError) => void = () => {};
  const failed = new Promise<VoicectlError>((resolve) => {
    fail = resolve;
  });

  const cut = () => {
    isCut = true;
    ending.abort();
    wake();
  };
  const recover = async (loss: VoicectlError) => {
    const timeoutMs = options.deviceTimeoutMs;
    const hint =
      timeoutMs > 0
        ? `It is waited for, ${timeoutMs / 1000} s.`
        : 'Is the sound server still running? --device-timeout 10s would wait for it to come back.';
    const message = `The loudspeaker was lost: ${loss.message}`;
    const isStall = loss.details.stalled === true;
    const mayRestart = isStall && clock.now() - restartedAt >= playedWellMs;
    if (timeoutMs === 0 && !mayRestart)
      throw new VoicectlError('audio-device', message, { hint, cause: loss });
    if (timeoutMs > 0) notices.tell({ code: 'device-lost', message, hint });
    isAway = true;
    buffer.flush();
    await speaker.stop();
    // What it had to play to its end is gone.
    if (isClosing && timeoutMs > 0) return cut();
    speaker = await reopen(open, {
      clock,
      timeoutMs: timeoutMs || restartMs,
      signal: AbortSignal.any([signal, ending.signal]),
      loss: new VoicectlError('audio-device', message, { hint, cause: loss }),
    }).catch((thrown) => {
      const { message: why } = toVoicectlError(thrown);
      throw new VoicectlError('audio-device', timeoutMs > 0 ? why : message, { hint, cause: thrown });
    });
    isAway = false;
    restartedAt = clock.now();
    if (isCut) return speaker.stop();
    const returned = isStall ? 'The loudspeaker had stalled, and was opened anew' : 'The loudspeaker is back';
    notices.tell({ code: 'device-returned', message: returned });
  };
  const rest = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      void speaker.lost.catch(resolve);
    });
  /** Until nothing more is to be played. */
  const play = async () => {
    for (;;) {
      await speaker.ready();
      if (isCut) return;
      const frame = buffer.pull(clock.now());
      if (frame !== undefined) speaker.write(frame);
      else if (isClosing) return;
      else await rest();
    }
  };
  const keepPlaying = async () => {
    while (!isCut) {
      try {
        return await play();
      } catch (thrown) {
        if (!isCut) await recover(toVoicectlError(thrown));
      }
    }
  };
  const playing = keepPlaying().catch((thrown) => {
    // A device that is no longer waited for has not failed the session.
    if (isCut) return;
    failure = toVoicectlError(thrown);
    fail(failure);
  });

  let isOverflowTold = false;
  return {
    backend: speaker.backend,
    failed,
    async write(pcm) {
      if (failure !== undefined) throw failure;
      if (isAway) return;
      buffer.push(pcm, clock.now());
      wake();
      if (buffer.stats.overflowMs === 0 || isOverflowTold) return;
      isOverflowTold = true;
      notices.tell({
        code: 'playback-full',
        message: 'More than five minutes of AI audio wait to be played; what comes beyond them is not played',
      });
    },
    flush: () => buffer.flush(),
    async close(reason) {
      isClosing = true;
      buffer.end();
      const isUrgent = reason !== undefined || signal.aborted || isAway;
      if (isUrgent) cut();
      else signal.addEventListener('abort', cut, { once: true });
      wake();
      // A device that is away is waited for no longer than the session.
      await (isUrgent ? speaker.stop() : playing);
      signal.removeEventListener('abort', cut);
      await (isCut || failure !== undefined ? speaker.stop() : speaker.finish());
    },
    get underruns() {
      return buffer.stats.underruns;
    },
    get stats() {
      return buffer.stats;
    },
  };
}

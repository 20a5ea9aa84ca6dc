import { reframe } from '../audio/blocks.ts';
import { type Level, measureLevel } from '../audio/level.ts';
import type { Clock } from '../kernel/clock.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import type { Capture } from './capture.ts';
import { findSound, makeSweep } from './locate-sound.ts';
import { type Speaker, speakerFrameMs } from './playout/speaker.ts';

/** The result of a test of both devices. */
export interface LoopResult {
  readonly input: string;
  readonly output: string;
  readonly level: Level;
  /** Level at the microphone while nobody speaks and nothing is played. */
  readonly noiseDbfs: number;
  /** Time from writing a sound until it is read back. Undefined if the microphone did not hear the loudspeaker. */
  readonly loopMs: number | undefined;
}

export interface LoopHandlers {
  onRecording: (ms: number) => void;
  onPlaying: () => void;
  onMeasuring: () => void;
  clock: Clock;
  signal: AbortSignal;
}

const recordMs = 2_000;
const sweepMs = 100;
/** After this time the device is running and the room is quiet. */
const quietMs = 500;
/** The last part of it: the microphone no longer hears the recording, and does not yet hear the sweep. */
const noiseMs = 300;
/** The longest delay that is found. */
const listenMs = 1_500;
/** More than chance: the room changes the sound. */
const leastLikeness = 0.4;

/** Records two seconds, plays them back, and measures the delay from the loudspeaker to the microphone. */
export async function testLoop(
  capture: Capture,
  speaker: Speaker,
  { onRecording, onPlaying, onMeasuring, clock, signal }: LoopHandlers,
): Promise<LoopResult> {
  const heard = capture.read();
  onRecording(recordMs);
  capture.clear();
  const recording = (await record(recordMs)).pcm;
  onPlaying();
  await Promise.all([play(speaker, recording, signal), record(recordMs)]);
  onMeasuring();
  const quiet = Buffer.alloc(bytesForMs(quietMs));
  const sweep = makeSweep(sweepMs);
  let writtenAt = 0;
  const [echo] = await Promise.all([
    record(quietMs + listenMs),
    play(speaker, quiet, signal).then(() => {
      writtenAt = clock.now();
      return play(speaker, Buffer.concat([sweep, Buffer.alloc(bytesForMs(listenMs - sweepMs))]), signal);
    }),
  ]);
  const best = findSound(sweep, echo.pcm);
  const found = best !== undefined && best.likeness >= leastLikeness ? best : undefined;
  // What is played is heard later than it is written, by a time that is known only if the sweep was heard.
  const noiseEndMs = Math.max(noiseMs, found?.atMs ?? quietMs);
  const noise = echo.pcm.subarray(bytesForMs(noiseEndMs - noiseMs), bytesForMs(noiseEndMs));
  return {
    input: capture.backend,
    output: speaker.backend,
    level: measureLevel(recording),
    noiseDbfs: measureLevel(noise).rmsDbfs,
    loopMs: found && echo.arrivedAt(found.atMs) - writtenAt,
  };

  /** Records the times of arrival too: some sound servers pass audio on in blocks before it is played. */
  async function record(ms: number) {
    const chunks: Buffer[] = [];
    const arrivals: { endMs: number; at: number }[] = [];
    for (let bytes = 0; bytes < bytesForMs(ms); ) {
      signal.throwIfAborted();
      const { value, done } = await heard.next();
      if (done) break;
      chunks.push(value);
      bytes += value.length;
      arrivals.push({ endMs: msForBytes(bytes), at: clock.now() });
    }
    const arrivedAt = (atMs: number) => arrivals.find(({ endMs }) => endMs > atMs)?.at ?? clock.now();
    return { pcm: Buffer.concat(chunks), arrivedAt };
  }
}

async function play(speaker: Speaker, pcm: Buffer, signal: AbortSignal): Promise<void> {
  async function* whole() {
    yield pcm;
  }
  for await (const frame of reframe(whole(), bytesForMs(speakerFrameMs))) {
    signal.throwIfAborted();
    await speaker.ready();
    speaker.write(frame);
  }
}

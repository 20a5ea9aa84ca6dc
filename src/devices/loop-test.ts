import { type Level, measureLevel } from '../audio/level.ts';
import { reframe } from '../audio/reframe.ts';
import type { Clock } from '../kernel/clock.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import type { Capture } from './capture.ts';
import { findSound, makeSweep } from './find-sound.ts';
import { frameMs, type Speaker } from './playout/speaker.ts';

/** What a test of both devices found. */
export interface LoopResult {
  readonly input: string;
  readonly output: string;
  readonly level: Level;
  /** What the microphone hears while nobody speaks and nothing is played. */
  readonly noiseDbfs: number;
  /** From our write of a sound to our reading of it; undefined where the microphone did not hear the loudspeaker. */
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
/** The device runs, and the room has become quiet. */
const quietMs = 500;
/** Of that, the part in which the microphone hears neither the recording nor the chirp. */
const noiseMs = 300;
/** How long the sound may take. */
const listenMs = 1_500;
/** Beyond chance: what a microphone hears of a loudspeaker in a room is coloured. */
const leastLikeness = 0.4;

/** Records two seconds, plays them back, and measures how long a sound takes from one device to the other. */
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
  const found = findSound(sweep, echo.pcm);
  return {
    input: capture.backend,
    output: speaker.backend,
    level: measureLevel(recording),
    noiseDbfs: measureLevel(echo.pcm.subarray(0, bytesForMs(noiseMs))).rmsDbfs,
    loopMs:
      found !== undefined && found.likeness >= leastLikeness
        ? echo.arrivedAt(found.atMs) - writtenAt
        : undefined,
  };

  /** By the time of arrival: some sound servers hand on in a block what they will play. */
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
  for await (const frame of reframe(whole(), bytesForMs(frameMs))) {
    signal.throwIfAborted();
    await speaker.ready();
    speaker.write(frame);
  }
}

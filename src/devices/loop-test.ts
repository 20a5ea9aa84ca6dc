import { type Level, measureLevel } from '../audio/level.ts';
import { reframe } from '../audio/reframe.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import type { Capture } from './capture.ts';
import { findSound, makeSweep } from './find-sound.ts';
import { frameMs, type Speaker } from './speaker.ts';

/** What a test of both devices found. */
export interface LoopResult {
  readonly input: string;
  readonly output: string;
  readonly level: Level;
  /** From our write of a sound to our reading of it; undefined where the microphone did not hear the loudspeaker. */
  readonly loopMs: number | undefined;
}

export interface LoopHandlers {
  onRecording: (ms: number) => void;
  onPlaying: () => void;
  onMeasuring: () => void;
  signal: AbortSignal;
}

const recordMs = 2_000;
const sweepMs = 100;
/** How long the sound may take. */
const listenMs = 1_500;
/** Beyond chance: what a microphone hears of a loudspeaker in a room is coloured. */
const leastLikeness = 0.4;

/** Records two seconds, plays them back, and measures how long a sound takes from one device to the other. */
export async function testLoop(
  capture: Capture,
  speaker: Speaker,
  { onRecording, onPlaying, onMeasuring, signal }: LoopHandlers,
): Promise<LoopResult> {
  const heard = capture.read();
  onRecording(recordMs);
  capture.clear();
  const recording = await record(heard, recordMs, signal);
  onPlaying();
  await Promise.all([play(speaker, recording, signal), record(heard, recordMs, signal)]);
  onMeasuring();
  // The device runs, and the room has become quiet.
  await Promise.all([play(speaker, Buffer.alloc(bytesForMs(500)), signal), record(heard, 500, signal)]);
  const sweep = makeSweep(sweepMs);
  capture.clear();
  const [echo] = await Promise.all([
    record(heard, listenMs, signal),
    play(speaker, Buffer.concat([sweep, Buffer.alloc(bytesForMs(listenMs - sweepMs))]), signal),
  ]);
  const found = findSound(sweep, echo);
  return {
    input: capture.backend,
    output: speaker.backend,
    level: measureLevel(recording),
    loopMs: found !== undefined && found.likeness >= leastLikeness ? found.atMs : undefined,
  };
}

async function record(heard: AsyncGenerator<Buffer>, ms: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let left = bytesForMs(ms); left > 0; ) {
    signal.throwIfAborted();
    const { value, done } = await heard.next();
    if (done || value === undefined) break;
    chunks.push(value);
    left -= value.length;
  }
  return Buffer.concat(chunks);
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

import { bytesForMs, bytesPerSample, msForBytes } from '../protocol/audio-format.ts';
import { createBlockJoiner } from './blocks.ts';
import { toDbfs } from './level.ts';

/** `silence`: the pause was long enough. `max-turn`: the turn was too long. `ended`: the audio ended. */
type GateEndReason = 'silence' | 'max-turn' | 'ended';

/** A turn of speech begins or ends. Times are in audio time: milliseconds since the first byte. */
export type GateEvent =
  | { readonly type: 'speech-start' /** The beginning of the first voiced frame. */; readonly atMs: number }
  | {
      readonly type: 'speech-end';
      /** The end of the last voiced frame, which is earlier than the event. */
      readonly atMs: number;
      readonly reason: GateEndReason;
    };

export interface SpeechGateOptions {
  /** The pause that ends a turn. Default 700 ms. */
  hangOverMs?: number;
}

/** Finds turns of speech in a stream of audio. State: about a kilobyte. */
export interface SpeechGate {
  /** Takes 16 kHz s16le mono in pieces of any size. The result does not depend on their sizes. */
  push(pcm: Buffer): GateEvent[];
  /** Ends an open turn. The gate can still be used. */
  end(): GateEvent[];
  readonly speaking: boolean;
  /** The end of the last voiced frame. */
  readonly lastVoicedMs: number;
  /** How much audio has been pushed. */
  readonly positionMs: number;
}

const frameMs = 20;
const longestTurnMs = 30_000;
/** A voiced frame is at least this far above the noise floor. */
const aboveNoiseDb = 10;
/** The lowest level of a voiced frame. */
const minimumDbfs = -45;
/**
 * A sound that does not dip by `aboveNoiseDb` for this long is background, not speech. A new noise above −38 dBFS counts as
 * one turn of about this length, and then as background.
 */
const noiseWindowMs = 4_000;
/** The pause that ends a turn by default. The emulator and its faults use it too. */
export const turnHangOverMs = 700;
/** The longest delay of an event, in audio time, with the default pause. */
export const gateDelayMs = turnHangOverMs + frameMs;
const frameSamples = bytesForMs(frameMs) / bytesPerSample;
/** A turn begins with 4 voiced frames among 6. */
const onsetFrames = 6;
const onsetVoiced = 4;
/**
 * The loudest possible background in the first 4 s. From the first frame on, louder sounds are speech;
 * softer ones must rise above the measured floor.
 */
const initialNoiseDbfs = -38;

interface GateState {
  readonly hangOverMs: number;
  readonly noise: NoiseFloor;
  bytesPushed: number;
  // Of the current frame.
  samples: number;
  sum: number;
  squares: number;
  // Of the frames so far. `recent`: the last six as bits, 1 for voiced, the newest lowest.
  frames: number;
  recent: number;
  speaking: boolean;
  startMs: number;
  lastVoicedMs: number;
}

/** A speech gate by level. It adapts to noise, and decides every 20 ms. */
export function createSpeechGate({ hangOverMs = turnHangOverMs }: SpeechGateOptions = {}): SpeechGate {
  const state: GateState = {
    hangOverMs,
    noise: createNoiseFloor(),
    bytesPushed: 0,
    samples: 0,
    sum: 0,
    squares: 0,
    frames: 0,
    recent: 0,
    speaking: false,
    startMs: 0,
    lastVoicedMs: 0,
  };
  const samples = createBlockJoiner();
  return {
    push(pcm) {
      state.bytesPushed += pcm.length;
      return gateSamples(state, samples.push(pcm));
    },
    end: () => (state.speaking ? [closeTurn(state, 'ended')] : []),
    get speaking() {
      return state.speaking;
    },
    get lastVoicedMs() {
      return state.lastVoicedMs;
    },
    get positionMs() {
      return msForBytes(state.bytesPushed);
    },
  };
}

function gateSamples(state: GateState, bytes: Buffer): GateEvent[] {
  const events: GateEvent[] = [];
  const count = bytes.length / bytesPerSample;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let index = 0; index < count; ) {
    const until = Math.min(count, index + frameSamples - state.samples);
    state.samples += until - index;
    // Sums are kept in variables: each change of a number in an object allocates memory.
    let { sum, squares } = state;
    for (; index < until; index += 1) {
      const sample = view.getInt16(index * bytesPerSample, true);
      sum += sample;
      squares += sample * sample;
    }
    state.sum = sum;
    state.squares = squares;
    if (state.samples < frameSamples) break;
    const event = gateFrame(state, closeFrame(state));
    if (event) events.push(event);
  }
  return events;
}

/** The level of the full frame in dBFS, without the mean: a microphone's constant offset is not sound. */
function closeFrame(state: GateState): number {
  const mean = state.sum / frameSamples;
  const power = state.squares / frameSamples - mean * mean;
  state.samples = 0;
  state.sum = 0;
  state.squares = 0;
  return toDbfs(Math.sqrt(Math.max(0, power)));
}

function gateFrame(state: GateState, dbfs: number): GateEvent | undefined {
  const noiseDbfs = updateNoiseFloor(state.noise, dbfs);
  const voiced = dbfs >= Math.max(minimumDbfs, noiseDbfs + aboveNoiseDb);
  state.frames += 1;
  const endMs = state.frames * frameMs;
  if (voiced) state.lastVoicedMs = endMs;
  if (state.speaking) {
    if (endMs - state.startMs >= longestTurnMs) return closeTurn(state, 'max-turn');
    return endMs - state.lastVoicedMs >= state.hangOverMs ? closeTurn(state, 'silence') : undefined;
  }
  state.recent = ((state.recent << 1) | (voiced ? 1 : 0)) & ((1 << onsetFrames) - 1);
  if (countOnes(state.recent) < onsetVoiced) return undefined;
  state.speaking = true;
  const framesSinceOnset = 32 - Math.clz32(state.recent);
  state.startMs = endMs - framesSinceOnset * frameMs;
  return { type: 'speech-start', atMs: state.startMs };
}

function closeTurn(state: GateState, reason: GateEndReason): GateEvent {
  state.speaking = false;
  state.recent = 0;
  return { type: 'speech-end', atMs: state.lastVoicedMs, reason };
}

function countOnes(bits: number): number {
  let count = 0;
  for (let left = bits; left > 0; left &= left - 1) count += 1;
  return count;
}

/**
 * The level of the background: the quietest frame of the last few seconds, kept as the minima of eight stretches. Plain data,
 * because there may be thousands.
 */
interface NoiseFloor {
  /** dBFS. */
  readonly minima: number[];
  stretch: number;
  framesInStretch: number;
}

const stretches = 8;
const framesPerStretch = noiseWindowMs / frameMs / stretches;

/** Until a whole window was heard, the floor is at most `initialNoiseDbfs`, so that speech at the very start is not noise. */
function createNoiseFloor(): NoiseFloor {
  return {
    minima: new Array<number>(stretches).fill(initialNoiseDbfs),
    stretch: 0,
    framesInStretch: 0,
  };
}

/** Takes the level of the next frame in dBFS, and returns the new floor. */
function updateNoiseFloor(floor: NoiseFloor, dbfs: number): number {
  const { minima, stretch } = floor;
  // The first frame of a stretch replaces the oldest one, so that no stretch is empty.
  minima[stretch] = floor.framesInStretch === 0 ? dbfs : Math.min(minima[stretch] ?? dbfs, dbfs);
  floor.framesInStretch += 1;
  if (floor.framesInStretch === framesPerStretch) {
    floor.framesInStretch = 0;
    floor.stretch = (stretch + 1) % stretches;
  }
  return Math.min(...minima);
}

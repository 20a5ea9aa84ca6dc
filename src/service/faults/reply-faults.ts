import { alawSamples, mulawSamples } from '../../audio/decode.ts';
import { mapSamples } from '../../audio/encode.ts';
import { amplitudeOf, gainOf } from '../../audio/level.ts';
import { wireFormat } from '../../audio/source.ts';
import { makeWavHeader } from '../../audio/wav/wav-header.ts';
import { bytesForMs, bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';
import type { FaultAt } from '../../protocol/faults.ts';
import type { UserSounds } from './user-sounds.ts';

/** Spoils one reply, message by message. */
export interface ReplySpoiler {
  /** The message to send; empty if nothing is sent. */
  spoil(pcm: Buffer): Buffer;
  /** How much later than it should the AI stops. */
  yieldsAfterMs?: number;
}

type ReplyFault = FaultAt<'reply'>;

/** Makes the effect of a fault on the reply that begins. `sounds`: what the user says meanwhile. */
export function createReplySpoiler(fault: ReplyFault, sounds: Pick<UserSounds, 'count'>): ReplySpoiler {
  switch (fault.name) {
    case 'clicks':
      return spoilSamples(clickMaker(fault));
    case 'dropouts':
      return spoilSamples(gapMaker(fault));
    case 'hum':
      return spoilSamples(humMaker(fault));
    case 'level':
      return spoilSamples((sample) => sample * gainOf(fault.db));
    case 'narrow-band':
      return spoilSamples(lowPass(fault.hz));
    case 'cut-off':
      return createCut((passedBytes) => passedBytes > bytesForMs(fault.after));
    case 'format':
      return createOtherFormat(fault.as);
    case 'false-interruption':
      return createCut(wasSoundSince(sounds));
    case 'reply-lost':
      return { spoil: () => nothing };
    case 'slow-yield':
      return { ...untouched, yieldsAfterMs: fault.by };
    case 'never-yields':
      return { ...untouched, yieldsAfterMs: Number.POSITIVE_INFINITY };
  }
}

const untouched: ReplySpoiler = { spoil: (pcm) => pcm };

/** Whether the user has made a sound since now. */
function wasSoundSince(sounds: Pick<UserSounds, 'count'>): () => boolean {
  const { count } = sounds;
  return () => sounds.count > count;
}

/** Changes a sample, given its place in the reply. */
type ChangeSample = (sample: number, at: number) => number;

function spoilSamples(change: ChangeSample): ReplySpoiler {
  let at = 0;
  return {
    spoil(pcm) {
      const spoilt = mapSamples(pcm, (sample, index) => change(sample, at + index));
      at += Math.floor(pcm.length / bytesPerSample);
      return spoilt;
    },
  };
}

function samplesOf(ms: number): number {
  return bytesForMs(ms) / bytesPerSample;
}

/** A step at each interval that fades within 2 ms, against the sign of the sample: it is audible wherever it strikes. */
function clickMaker({ every, db }: { every: number; db: number }): ChangeSample {
  const interval = samplesOf(every);
  const height = amplitudeOf(db);
  let sign = 1;
  return (sample, at) => {
    const age = at % interval;
    if (at < interval || age > clickSamples) return sample;
    if (age === 0) sign = sample > 0 ? -1 : 1;
    return sample + sign * height * clickFall ** age;
  };
}

const clickFall = 0.8;
const clickSamples = samplesOf(2);

function gapMaker({ every, for: lengthMs }: { every: number; for: number }): ChangeSample {
  const interval = samplesOf(every);
  const length = samplesOf(lengthMs);
  return (sample, at) => (at >= interval && at % interval < length ? 0 : sample);
}

/** Mains hum: a tone and a weaker one at three times its frequency. `db`: the level of both, in dBov. */
function humMaker({ hz, db }: { hz: number; db: number }): ChangeSample {
  const height = amplitudeOf(db) * Math.SQRT2 * 0.97;
  const step = (2 * Math.PI * hz) / sampleRate;
  return (sample, at) => sample + height * (Math.sin(step * at) + Math.sin(3 * step * at) / 4);
}

/** Passes frequencies below `hz`. Blackman window: those above the edge are 74 dB lower. */
function lowPass(hz: number): ChangeSample {
  const taps = 201;
  const middle = (taps - 1) / 2;
  const cut = (2 * hz) / sampleRate;
  const weights = Array.from({ length: taps }, (_, at) => {
    const x = at - middle;
    const sinc = x === 0 ? cut : Math.sin(Math.PI * cut * x) / (Math.PI * x);
    const turn = (2 * Math.PI * at) / (taps - 1);
    return sinc * (0.42 - 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn));
  });
  const past = new Float64Array(taps);
  return (sample, at) => {
    past[at % taps] = sample;
    let sum = 0;
    for (let back = 0; back < taps; back += 1)
      sum += (weights[back] as number) * (past[((at % taps) + taps - back) % taps] as number);
    return sum;
  };
}

/** Ends a reply within a sound: when it is due, at the first voiced message as loud as speech that does not fall. */
function createCut(isDue: (passedBytes: number) => boolean): ReplySpoiler {
  let passed = 0;
  let loudest = 0;
  let isCut = false;
  return {
    spoil(pcm) {
      if (isCut) return Buffer.alloc(0);
      passed += pcm.length;
      const half = Math.floor(pcm.length / 4) * bytesPerSample;
      const [first, second] = [power(pcm.subarray(0, half)), power(pcm.subarray(half))];
      loudest = Math.max(loudest, first, second);
      const isLoud = second > loudest / 5 && second > first / 2 && first > second / 8;
      isCut = isDue(passed) && isLoud && isVoiced(pcm);
      return pcm;
    },
  };
}

/** Whether neighbouring samples are alike, unlike in an s or a breath. */
function isVoiced(pcm: Buffer): boolean {
  let squares = 0;
  let steps = 0;
  for (let at = bytesPerSample; at + 1 < pcm.length; at += bytesPerSample) {
    const sample = pcm.readInt16LE(at);
    squares += sample ** 2;
    steps += (sample - pcm.readInt16LE(at - bytesPerSample)) ** 2;
  }
  return steps < squares / 2;
}

function power(pcm: Buffer): number {
  let squares = 0;
  for (let at = 0; at + 1 < pcm.length; at += bytesPerSample) squares += pcm.readInt16LE(at) ** 2;
  return squares / Math.max(1, pcm.length);
}

/** How a sample is written in another format, and in how many bytes. */
interface Encoding {
  bytes: number;
  write(into: Buffer, sample: number, at: number): void;
}

/** Formats whose samples are the right ones, but for what is around them. */
type Wrapped = 'byte-shift' | 'riff-header' | 'frame-header' | 'base64' | 'json';

const encodings: Record<Exclude<ReplyFormat, Wrapped>, Encoding> = {
  stereo: {
    bytes: 4,
    write(into, sample, at) {
      into.writeInt16LE(sample, at);
      into.writeInt16LE(sample, at + 2);
    },
  },
  float32: { bytes: 4, write: (into, sample, at) => into.writeFloatLE(sample / 0x8000, at) },
  int32: {
    bytes: 4,
    write: (into, sample, at) => into.writeInt32LE(sample * 0x10000 + ((sample * 7_919) & 0xff00), at),
  },
  'half-empty': { bytes: 4, write: (into, sample, at) => into.writeInt32LE(sample * 0x10000, at) },
  int24: { bytes: 3, write: (into, sample, at) => into.writeIntLE(sample * 0x100 + (sample & 0x7f), at, 3) },
  'unsigned-16': { bytes: 2, write: (into, sample, at) => into.writeUInt16LE(sample + 0x8000, at) },
  'unsigned-8': { bytes: 1, write: (into, sample, at) => into.writeUInt8((sample >> 8) + 0x80, at) },
  'signed-8': { bytes: 1, write: (into, sample, at) => into.writeInt8(sample >> 8, at) },
  mulaw: { bytes: 1, write: (into, sample, at) => into.writeUInt8(nearest(mulawSamples, sample), at) },
  alaw: { bytes: 1, write: (into, sample, at) => into.writeUInt8(nearest(alawSamples, sample), at) },
};

export type ReplyFormat = Extract<ReplyFault, { name: 'format' }>['as'];

function createOtherFormat(format: ReplyFormat): ReplySpoiler {
  if (format === 'frame-header') return createRtp();
  let isFirst = true;
  return {
    spoil(pcm) {
      const before = isFirst ? beginningOf(format) : nothing;
      isFirst = false;
      return Buffer.concat([before, rewrite(pcm, format)]);
    },
  };
}

/** Puts a header of RTP before each message: a number, a timestamp in samples, and a source. */
function createRtp(): ReplySpoiler {
  let index = 0;
  let samples = 0;
  return {
    spoil(pcm) {
      const header = Buffer.from([0x80, 0x60, 0, 0, 0, 0, 0, 0, 0x5a, 0x17, 0xc3, 0x42]);
      header.writeUInt16BE(index & 0xffff, 2);
      header.writeUInt32BE(samples, 4);
      index += 1;
      samples += Math.floor(pcm.length / bytesPerSample);
      return Buffer.concat([header, pcm]);
    },
  };
}

const nothing = Buffer.alloc(0);

function beginningOf(format: ReplyFormat): Buffer {
  if (format === 'byte-shift') return Buffer.alloc(1);
  return format === 'riff-header' ? makeWavHeader(wireFormat, Number.POSITIVE_INFINITY) : nothing;
}

function rewrite(pcm: Buffer, format: Exclude<ReplyFormat, 'frame-header'>): Buffer {
  if (format === 'byte-shift' || format === 'riff-header') return pcm;
  if (format === 'base64') return Buffer.from(pcm.toString('base64'));
  if (format === 'json') return Buffer.from(JSON.stringify({ audio: pcm.toString('base64') }));
  const { bytes, write } = encodings[format];
  const count = Math.floor(pcm.length / bytesPerSample);
  const rewritten = Buffer.alloc(count * bytes);
  for (let at = 0; at < count; at += 1) write(rewritten, pcm.readInt16LE(at * bytesPerSample), at * bytes);
  return rewritten;
}

/** The code whose sample is nearest. */
function nearest(table: Int16Array, sample: number): number {
  let best = 0;
  for (let code = 1; code < table.length; code += 1)
    if (Math.abs((table[code] as number) - sample) < Math.abs((table[best] as number) - sample)) best = code;
  return best;
}

import { bytesPerMs, bytesPerSample, sampleRate } from '../protocol/audio-format.ts';
import { type Finding, fail, pass, unknown, warn } from './rule.ts';
import { audioOf, type SeenStream } from './stream-seen.ts';

/** First bytes of containers and codecs. */
const magics: Record<string, string> = { RIFF: 'WAV', OggS: 'Ogg', ID3: 'MP3', fLaC: 'FLAC' };
/** A pause this long means that the reply, with its last sample, has ended. */
const quietMs = 500;
/** Less audio than this shows nothing. */
const leastMs = 60;
/** Quieter than −60 dBFS there is nothing to judge. */
const audiblePeak = 33;

/** Judges the format of the service's audio by its bytes and its pace. */
export function judgeAudio(stream: SeenStream): Finding | undefined {
  const messages = audioOf(stream, 'service');
  const audio = Buffer.concat(messages.map(({ data }) => data));
  if (audio.length === 0) return undefined;
  const magic = Object.keys(magics).find((start) => audio.toString('latin1', 0, start.length) === start);
  if (magic !== undefined) return fail(`it begins with ${magic}: ${magics[magic]}, no raw PCM`, stream);
  const last = messages.at(-1)?.at ?? 0;
  const hasEnded = (stream.exchange.end?.at ?? last) - last >= quietMs;
  // A service that echoes everything also echoes half a sample.
  const heardWhole = audioOf(stream, 'device').every(({ bytes }) => bytes % bytesPerSample === 0);
  if (heardWhole && audio.length % bytesPerSample !== 0 && hasEnded)
    return fail(`${audio.length} bytes: half a sample too much`, stream);
  const shape = measureSteps(audio);
  if (audio.length < leastMs * bytesPerMs || shape.peak < audiblePeak)
    return unknown('too short or too quiet to tell its format', stream);
  // Swapped bytes are noise at full scale: put right, neighbours are close again.
  if (shape.steps > 4 * shape.swappedSteps) return fail('big-endian: the bytes are swapped', stream);
  if (shape.between > 4 * shape.within) return fail('stereo: each sample comes twice', stream);
  return (
    judgePace(stream) ?? pass(`${Math.round(audio.length / bytesPerMs)} ms of audio fit the format`, stream)
  );
}

/** Sums of the steps between neighbours: unchanged, swapped, within pairs and between pairs. */
function measureSteps(audio: Buffer) {
  const sums = { peak: 0, steps: 0, swappedSteps: 0, within: 0, between: 0 };
  for (let at = bytesPerSample; at + 1 < audio.length; at += bytesPerSample) {
    const sample = audio.readInt16LE(at);
    const step = Math.abs(sample - audio.readInt16LE(at - bytesPerSample));
    sums.peak = Math.max(sums.peak, Math.abs(sample));
    sums.steps += step;
    if ((at / bytesPerSample) % 2 === 0) sums.between += step;
    else sums.within += step;
    sums.swappedSteps += Math.abs(audio.readInt16BE(at) - audio.readInt16BE(at - bytesPerSample));
  }
  return sums;
}

/** Rates that services confuse with 16 kHz. */
const otherRates: readonly number[] = [8_000, 22_050, 24_000, 44_100, 48_000];
const shortestPaceMs = 1_500;
const paceTolerance = 0.02;

/** The pace shows the sample rate only if audio arrives in real time. */
function judgePace(stream: SeenStream): Finding | undefined {
  const messages = audioOf(stream, 'service');
  const [first] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined || last.at - first.at < shortestPaceMs) return undefined;
  const gaps = messages.slice(1).map(({ at }, index) => at - (messages[index]?.at ?? at));
  const isEven = Math.max(...gaps) < quietMs;
  const bytes = messages.slice(0, -1).reduce((sum, one) => sum + one.bytes, 0);
  const rate = bytes / bytesPerSample / ((last.at - first.at) / 1000);
  const other = otherRates.find((one) => Math.abs(rate / one - 1) < paceTolerance);
  if (!isEven || other === undefined) return undefined;
  return warn(`it comes at ${Math.round(rate)} samples a second, and not ${sampleRate}`, stream);
}

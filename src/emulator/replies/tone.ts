import { bytesPerSample, sampleRate } from '../../protocol/audio-format.ts';
import { playPcm } from '../../service/streams/playable.ts';
import { takeTurns } from './turns.ts';

const frequencyHz = 440;
const durationMs = 1_000;
const peak = 0.25 * 0x7fff;

/** Replies to each turn with one second of a 440 Hz tone at −12 dBFS. */
export const tone = takeTurns(() => {
  tonePcm ??= makeTone(frequencyHz, durationMs);
  return playPcm(tonePcm);
});

/** Made for the first turn: most emulators never play it. */
let tonePcm: Buffer | undefined;

/** A tone at −12 dBFS, as 16 kHz s16le mono. */
export function makeTone(frequencyHz: number, durationMs: number): Buffer {
  const samples = Math.round((sampleRate * durationMs) / 1000);
  const pcm = Buffer.alloc(samples * bytesPerSample);
  for (let i = 0; i < samples; i += 1) {
    const value = Math.round(peak * Math.sin((2 * Math.PI * frequencyHz * i) / sampleRate));
    pcm.writeInt16LE(value, i * bytesPerSample);
  }
  return pcm;
}

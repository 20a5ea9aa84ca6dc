import { sampleRate } from '../protocol/audio-format.ts';
import { createMonoDecoder } from './decode.ts';
import { encodeS16le } from './encode.ts';
import { createReference } from './reference.ts';
import { wireFormat } from './source.ts';

/** Removes from a microphone what a loudspeaker plays. 16 kHz s16le mono on both sides. */
export interface EchoCanceller {
  /** Takes what goes to the loudspeaker. */
  played(pcm: Buffer): void;
  /** Takes what the microphone heard. Returns it without the echo, in steps of 10 ms; the rest comes with the next call. */
  clean(pcm: Buffer): Buffer;
}

/** WebRTC's echo canceller (AEC3), which finds the delay between the devices itself. */
export async function createEchoCanceller(): Promise<EchoCanceller> {
  const { AEC3 } = await loadModule();
  const canceller = new AEC3(sampleRate, 1, 1);
  const decode = createMonoDecoder(wireFormat);
  const reference = createReference();
  return {
    played: reference.played,
    clean(pcm) {
      const heard = decode(pcm);
      canceller.analyze([reference.read(heard.length)]);
      const clean = new Float32Array(canceller.processSize([heard]));
      canceller.process([clean], [heard]);
      return encodeS16le(clean);
    },
  };
}

/** Loads the module and removes its handlers for errors of the whole process. */
async function loadModule() {
  const kinds = ['uncaughtException', 'unhandledRejection'] as const;
  const before = kinds.map((kind) => new Set<unknown>(process.listeners(kind as 'exit')));
  const { default: load } = await import('@ennuicastr/webrtcaec3.js');
  const module = await load();
  for (const [index, kind] of kinds.entries()) {
    for (const listener of process.listeners(kind as 'exit')) {
      if (!before[index]?.has(listener)) process.off(kind, listener as () => void);
    }
  }
  return module;
}

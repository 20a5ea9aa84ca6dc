import { createSpeechGate } from '../audio/speech-gate.ts';
import type { Clock } from '../kernel/clock.ts';

/** Tells the AI's voice from the background of its audio, message by message. */
interface VoiceWatch {
  received(pcm: Buffer): void;
  /** When the last message with speech arrived; −∞ before the first. */
  readonly voicedAt: number;
}

export function createVoiceWatch(clock: Clock): VoiceWatch {
  const gate = createSpeechGate();
  let voicedAt = Number.NEGATIVE_INFINITY;
  return {
    received(pcm) {
      const { speaking, lastVoicedMs } = gate;
      const isSpeech = gate.push(pcm).length > 0 || speaking || gate.speaking;
      if (isSpeech && gate.lastVoicedMs > lastVoicedMs) voicedAt = clock.now();
    },
    get voicedAt() {
      return voicedAt;
    },
  };
}

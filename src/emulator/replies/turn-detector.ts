import { createSpeechGate, type GateEvent } from '../../audio/speech-gate.ts';
import type { ClockTimer } from '../../kernel/clock.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import type { Reply, Voice } from './reply.ts';
import { createUtteranceBuffer } from './utterance-buffer.ts';

/** A turn ends after this much silence, or if nothing arrives for this long. */
const hangOverMs = 700;
/** Audio added before and after a turn, so that no word is cut. */
const marginMs = 120;
const prerollBytes = bytesForMs(1_000);

export interface TurnListener {
  /** The user has begun to speak. */
  started(): void;
  /** The user has finished: the turn, with a little audio around it. */
  ended(utterance: Buffer): void;
}

/** Detects the user's turns. Reports each to the stream, then to the listener. */
export function detectTurns(
  voice: Pick<Voice, 'clock' | 'turnStarted' | 'turnEnded'>,
  listener: TurnListener,
): Required<Pick<Reply, 'hear' | 'close'>> {
  const gate = createSpeechGate({ hangOverMs });
  const heard = createUtteranceBuffer();
  let turnStartMs = 0;
  let lastHeardAt = 0;
  let silenceTimer: ClockTimer | undefined;

  const onGate = (event: GateEvent) => {
    if (event.type === 'speech-start') {
      turnStartMs = event.atMs;
      voice.turnStarted(event.atMs);
      listener.started();
      return;
    }
    voice.turnEnded(event.atMs, event.atMs - turnStartMs);
    listener.ended(heard.slice(turnStartMs - marginMs, event.atMs + marginMs));
  };

  /** A turn also ends when the device stops sending. */
  const watchForSilence = () => {
    silenceTimer ??= voice.clock.after(lastHeardAt + hangOverMs - voice.clock.now(), () => {
      silenceTimer = undefined;
      if (!gate.speaking) return;
      if (voice.clock.now() - lastHeardAt < hangOverMs) watchForSilence();
      else gate.end().forEach(onGate);
    });
  };

  return {
    hear(pcm) {
      heard.push(pcm);
      lastHeardAt = voice.clock.now();
      gate.push(pcm).forEach(onGate);
      if (gate.speaking) watchForSilence();
      else heard.forgetBefore(prerollBytes);
    },
    close: () => silenceTimer?.cancel(),
  };
}

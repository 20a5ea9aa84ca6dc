import { createSpeechGate, type GateEvent } from '../../audio/speech-gate.ts';
import type { ClockTimer } from '../../clock.ts';
import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';
import type { Reply, Voice } from '../reply.ts';

/** Silence after which a turn has ended, heard or not sent at all. */
const hangOverMs = 700;
/** Audio kept from before the gate opened, and after its last voiced frame, so that no word is clipped. */
const marginMs = 120;
const prerollBytes = bytesForMs(1_000);

export interface TurnListener {
  /** The user has begun to speak. */
  started(): void;
  /** The user has finished: what they said, with a little of what was around it. */
  ended(utterance: Buffer): void;
}

/** Hears the user's turns, and reports each to the stream before it tells the listener. */
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

  /** A device that stops sending when its user falls silent has ended the turn as well. */
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

/** The user's audio from some way before the turn; bounded by the preroll and the gate's longest turn. */
function createUtteranceBuffer() {
  const chunks: Buffer[] = [];
  let start = 0;
  let length = 0;
  return {
    push(pcm: Buffer) {
      chunks.push(pcm);
      length += pcm.length;
    },
    /** Drops whole chunks of which nothing is among the last `bytes`. */
    forgetBefore(bytes: number) {
      let drop = 0;
      for (const chunk of chunks) {
        if (length - chunk.length < bytes) break;
        length -= chunk.length;
        start += chunk.length;
        drop += 1;
      }
      if (drop > 0) chunks.splice(0, drop);
    },
    /** The audio between two moments, in milliseconds since the stream began, as far as it is still held. */
    slice(fromMs: number, toMs: number): Buffer {
      const from = Math.max(0, bytesForMs(Math.max(fromMs, msForBytes(start))) - start);
      return Buffer.concat(chunks).subarray(from, Math.max(from, bytesForMs(toMs) - start));
    },
  };
}

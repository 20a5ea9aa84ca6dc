import { createSpeechGate, type GateEvent, turnHangOverMs } from '../../audio/speech-gate.ts';
import type { ClockTimer } from '../../kernel/clock.ts';
import { bytesForMs, msForBytes } from '../../protocol/audio-format.ts';
import type { Reply, Voice } from './reply.ts';

/** Audio added before and after a turn, so that no word is cut. */
const marginMs = 120;
const prerollBytes = bytesForMs(1_000);

export interface TurnListener {
  /** The user has begun to speak. */
  started(): void;
  /** The user has finished: the turn, with a little audio around it. */
  ended(turn: Buffer): void;
}

/** Detects the user's turns. Reports each to the stream, then to the listener. */
export function detectTurns(
  voice: Pick<Voice, 'clock' | 'shortestTurnMs' | 'turnStarted' | 'turnEnded'>,
  listener: TurnListener,
): Required<Pick<Reply, 'hear' | 'close' | 'endTurn'>> {
  const gate = createSpeechGate();
  const heard = createTurnBuffer();
  let turnStartMs = 0;
  /** `sound`: too short so far for a turn. `unheard`: the rest of a turn that was treated as ended. */
  let state: 'quiet' | 'sound' | 'turn' | 'unheard' = 'quiet';
  let lastHeardAt = 0;
  let silenceTimer: ClockTimer | undefined;

  const onGate = (event: GateEvent) => {
    if (event.type === 'speech-start') {
      turnStartMs = event.atMs;
      state = 'sound';
      return;
    }
    lookForTurn(event.atMs);
    if (state === 'turn') end(event.atMs);
    state = 'quiet';
  };
  const end = (atMs: number) => {
    voice.turnEnded(atMs, atMs - turnStartMs, gate.positionMs - atMs + voice.clock.now() - lastHeardAt);
    listener.ended(heard.slice(turnStartMs - marginMs, atMs + marginMs));
  };
  /** A sound becomes a turn when it is long enough. `voicedMs`: its end so far. */
  const lookForTurn = (voicedMs: number) => {
    if (state !== 'sound' || voicedMs - turnStartMs < voice.shortestTurnMs) return;
    state = 'turn';
    voice.turnStarted(turnStartMs);
    listener.started();
  };

  /** A turn also ends when the device stops sending for as long as the pause after a turn. */
  const watchForSilence = () => {
    silenceTimer ??= voice.clock.after(lastHeardAt + turnHangOverMs - voice.clock.now(), () => {
      silenceTimer = undefined;
      if (!gate.speaking) return;
      if (voice.clock.now() - lastHeardAt < turnHangOverMs) watchForSilence();
      else gate.end().forEach(onGate);
    });
  };

  return {
    hear(pcm) {
      heard.push(pcm);
      lastHeardAt = voice.clock.now();
      gate.push(pcm).forEach(onGate);
      lookForTurn(gate.lastVoicedMs);
      if (gate.speaking) watchForSilence();
      else heard.forgetBefore(prerollBytes);
    },
    endTurn() {
      if (state !== 'turn') return false;
      state = 'unheard';
      end(gate.positionMs);
      return true;
    },
    close: () => silenceTimer?.cancel(),
  };
}

/** The user's audio, beginning a little before the turn. */
interface TurnBuffer {
  push(pcm: Buffer): void;
  /** Keeps at least the last `bytes`, and drops whole blocks before them. */
  forgetBefore(bytes: number): void;
  /** The audio between two moments, in milliseconds since the stream began, if it is still kept. */
  slice(fromMs: number, toMs: number): Buffer;
}

const blockBytes = bytesForMs(250);

/**
 * Copies audio into blocks: a message that is kept, even one of two bytes, would keep the memory of a whole read of the
 * socket. The caller limits the size: with `forgetBefore`, and by the longest turn of the speech gate.
 */
export function createTurnBuffer(): TurnBuffer {
  const blocks: Buffer[] = [];
  /** Bytes of the stream before the first block, and in the blocks. */
  let start = 0;
  let length = 0;
  return {
    push(pcm) {
      for (let from = 0; from < pcm.length; ) {
        const at = length % blockBytes;
        if (at === 0) blocks.push(Buffer.allocUnsafeSlow(blockBytes));
        blocks.at(-1)?.set(pcm.subarray(from, from + blockBytes - at), at);
        const bytes = Math.min(pcm.length - from, blockBytes - at);
        from += bytes;
        length += bytes;
      }
    },
    forgetBefore(bytes) {
      while (length - blockBytes >= bytes) {
        blocks.shift();
        length -= blockBytes;
        start += blockBytes;
      }
    },
    slice(fromMs, toMs) {
      const from = Math.max(0, bytesForMs(Math.max(fromMs, msForBytes(start))) - start);
      const to = Math.min(length, bytesForMs(toMs) - start);
      return Buffer.concat(blocks).subarray(from, Math.max(from, to));
    },
  };
}

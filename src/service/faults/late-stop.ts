import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import type { Playable } from '../streams/playable.ts';
import type { StreamSpeaker } from '../streams/speaker.ts';

export interface LateStopOptions {
  speaker: Pick<StreamSpeaker, 'speaking' | 'stop'>;
  clock: Clock;
  /** How much later than it is told to the speaker stops; ∞: not before its end. */
  delayMs(): number;
  /** Says something at once. */
  say(playable: Playable): void;
  /** It has stopped. */
  onStopped(): void;
}

/** What a speaker is told; it may stop later, and then says what it was told meanwhile. */
export interface LateStop {
  say(playable: Playable): void;
  stop(): void;
  /** The stream has ended. */
  close(): void;
}

export function createLateStop({ speaker, clock, delayMs, say, onStopped }: LateStopOptions): LateStop {
  let timer: ClockTimer | undefined;
  let waiting: Playable[] = [];

  const stopNow = () => {
    timer = undefined;
    if (speaker.speaking) {
      speaker.stop();
      onStopped();
    }
    for (const playable of waiting.splice(0)) say(playable);
  };
  return {
    say(playable) {
      if (timer !== undefined && speaker.speaking) {
        waiting.push(playable);
        return;
      }
      timer?.cancel();
      timer = undefined;
      say(playable);
    },
    stop() {
      if (!speaker.speaking || timer !== undefined) return;
      const ms = delayMs();
      if (ms === 0) stopNow();
      else if (Number.isFinite(ms)) timer = clock.after(ms, stopNow);
    },
    close() {
      timer?.cancel();
      waiting = [];
      speaker.stop();
    },
  };
}

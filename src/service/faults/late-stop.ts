import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import type { Playable } from '../streams/playable.ts';
import { maxWaiting, type StreamSpeaker } from '../streams/speaker.ts';

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

/** What a speaker is told; it may stop later, and only then says what it was told meanwhile. */
export interface LateStop {
  say(playable: Playable): void;
  /** Stops, or will stop: drops all that it was told to say. */
  stop(): void;
  /** The speaker has said all. True if it goes on with what it was told meanwhile. */
  ended(): boolean;
  /** The stream has ended. */
  close(): void;
}

export function createLateStop({ speaker, clock, delayMs, say, onStopped }: LateStopOptions): LateStop {
  let timer: ClockTimer | undefined;
  let waiting: Playable[] = [];

  const sayWaiting = (): boolean => {
    timer?.cancel();
    timer = undefined;
    const due = waiting.splice(0);
    for (const playable of due) say(playable);
    return due.length > 0;
  };
  const stopNow = () => {
    if (speaker.speaking) {
      speaker.stop();
      onStopped();
    }
    sayWaiting();
  };
  return {
    say(playable) {
      if (timer !== undefined && speaker.speaking) {
        if (waiting.length > maxWaiting) waiting.shift();
        waiting.push(playable);
        return;
      }
      sayWaiting();
      say(playable);
    },
    stop() {
      waiting = [];
      if (!speaker.speaking || timer !== undefined) return;
      const ms = delayMs();
      if (ms === 0) stopNow();
      else if (Number.isFinite(ms)) timer = clock.after(ms, stopNow);
    },
    ended: sayWaiting,
    close() {
      timer?.cancel();
      waiting = [];
      speaker.stop();
    },
  };
}

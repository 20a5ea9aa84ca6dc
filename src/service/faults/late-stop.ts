import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import type { Playable } from '../streams/playable.ts';
import { maxWaiting, type StreamSpeaker } from '../streams/speaker.ts';

export interface LateStopOptions {
  speaker: Pick<StreamSpeaker, 'speaking' | 'stop'>;
  clock: Clock;
  /** How much later than requested the speaker stops; ∞: not before its end. */
  delayMs(): number;
  say(playable: Playable): void;
  /** It has stopped. */
  onStopped(): void;
}

/** Lets a speaker stop late: only then does it say what it was given in the meantime. */
export interface LateStop {
  say(playable: Playable): void;
  /** Stops, or will stop: drops everything that it was to say. */
  stop(): void;
  /** The speaker has finished. True if it continues with what it was given in the meantime. */
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
        if (waiting.length >= maxWaiting) waiting.shift();
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

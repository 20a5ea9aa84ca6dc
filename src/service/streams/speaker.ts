import type { Pulse } from '../../wire/pulse.ts';
import type { Playable } from './playable.ts';

/** Sends one playable after the other, one frame per tick of the pulse. */
export interface StreamSpeaker {
  readonly speaking: boolean;
  say(playable: Playable): void;
  /** Drops what has not been sent yet. */
  stop(): void;
}

export interface SpeakerOptions {
  pulse: Pulse;
  frameBytes: number;
  send: (pcm: Buffer) => void;
  /** Called when everything is sent; not after `stop`. */
  onEnd: () => void;
  /** Called with what sending threw: other streams share the pulse. It says no more. */
  onThrown: (thrown: unknown) => void;
}

/** Maximum number of playables that wait behind the current one; beyond it the oldest is dropped. */
export const maxWaiting = 64;

export function createSpeaker({ pulse, frameBytes, send, onEnd, onThrown }: SpeakerOptions): StreamSpeaker {
  const queue: Playable[] = [];
  let leave: (() => void) | undefined;

  const rest = () => {
    leave?.();
    leave = undefined;
  };

  const stop = () => {
    queue.length = 0;
    rest();
  };

  const tick = () => {
    try {
      sayNext();
    } catch (thrown) {
      stop();
      onThrown(thrown);
    }
  };

  const sayNext = () => {
    const frame = queue[0]?.read(frameBytes);
    if (frame !== undefined) {
      if (frame.length > 0) send(frame);
      return;
    }
    queue.shift();
    if (queue.length > 0) {
      sayNext();
      return;
    }
    rest();
    onEnd();
  };

  return {
    get speaking() {
      return leave !== undefined;
    },
    say(playable) {
      if (queue.length > maxWaiting) queue.splice(1, 1);
      queue.push(playable);
      leave ??= pulse.add(tick);
    },
    stop,
  };
}

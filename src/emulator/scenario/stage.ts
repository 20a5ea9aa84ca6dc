import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { playPcm } from '../../service/streams/playable.ts';
import type { Reply, Voice } from '../replies/reply.ts';
import { detectTurns } from '../replies/turns.ts';
import type { Trigger } from './scenario-schema.ts';

/** The stream on which a scenario plays. */
export interface ScenarioStage {
  readonly reply: Required<Pick<Reply, 'hear' | 'said' | 'event' | 'endTurn' | 'close'>>;
  /** The last turn of the user. */
  readonly lastTurn: Buffer;
  /** Resolves at the trigger; never if the stream ends first. */
  until(trigger: Trigger): Promise<void>;
  /** Resolves after the time; never if the stream ends first. */
  pause(ms: number): Promise<void>;
  /** Resolves when the audio is sent, or when the user talks over it. */
  say(pcm: Buffer, bargeIn: boolean): Promise<void>;
  /** Calls when the stream ends; at once if it has ended. */
  onEnd(call: () => void): void;
}

export function createStage(voice: Voice): ScenarioStage {
  const moments = createMoments();
  const pauses = createPauses(voice.clock);
  const speech = createSpeech(voice);
  let heardBytes = 0;
  let lastTurn: Buffer = Buffer.alloc(0);
  let isOver = false;
  const endings: (() => void)[] = [];

  const wait = (isMet: () => boolean) => (isOver ? never() : moments.wait(isMet));
  const pause = (ms: number) => (isOver ? never() : pauses.pause(ms));
  const turns = detectTurns(voice, {
    started() {
      speech.interrupt();
      moments.happen('speech-start');
    },
    ended(turn) {
      lastTurn = turn;
      moments.happen('speech-end');
    },
  });

  return {
    get lastTurn() {
      return lastTurn;
    },
    pause,
    async until(trigger) {
      if (isOver) await never();
      if (trigger === 'connected') return;
      if (typeof trigger === 'string') await wait(() => moments.consume(trigger));
      else if ('after' in trigger) await pause(trigger.after);
      else if ('event' in trigger) await wait(() => moments.consume(`event ${trigger.event}`));
      else {
        const start = heardBytes;
        await wait(() => heardBytes - start >= trigger.bytes);
      }
    },
    say: (pcm, bargeIn) => (isOver ? never() : speech.say(pcm, bargeIn)),
    onEnd: (call) => (isOver ? call() : void endings.push(call)),
    reply: {
      hear(pcm) {
        heardBytes += pcm.length;
        turns.hear(pcm);
        moments.look();
      },
      said: speech.said,
      endTurn: turns.endTurn,
      event: (name) => moments.happen(`event ${name}`),
      close() {
        isOver = true;
        turns.close();
        pauses.close();
        for (const call of endings) call();
      },
    },
  };
}

/** The stream has ended: what the scenario waits for does not happen any more. */
function never(): Promise<void> {
  return new Promise(() => {});
}

/** What the AI says, one clip at a time. */
function createSpeech(voice: Voice) {
  let stopsAtSpeech = false;
  let finish: (() => void) | undefined;
  const said = () => {
    voice.status('listening');
    finish?.();
    finish = undefined;
  };
  return {
    said,
    say(pcm: Buffer, bargeIn: boolean): Promise<void> {
      stopsAtSpeech = bargeIn;
      return new Promise((resolve) => {
        finish = resolve;
        voice.status('speaking');
        voice.say(playPcm(pcm));
      });
    },
    /** The user speaks: stops a clip that allows it. */
    interrupt() {
      if (!stopsAtSpeech || !voice.speaking) return;
      voice.stop();
      said();
    },
  };
}

/** Pauses of a scenario: none of them ends after `close`. */
function createPauses(clock: Pick<Clock, 'after'>) {
  const timers = new Set<ClockTimer>();
  return {
    pause: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = clock.after(ms, () => {
          timers.delete(timer);
          resolve();
        });
        timers.add(timer);
      }),
    close() {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** What happens on the stream of a scenario. */
type ScenarioMoment = 'speech-start' | 'speech-end' | `event ${string}`;

function isSpeech(moment: ScenarioMoment): boolean {
  return !moment.startsWith('event ');
}

/** Moments that wait until the scenario asks for them, and the one wait of the scenario. */
interface Moments {
  happen(moment: ScenarioMoment): void;
  /** Removes the moment, and earlier speech before a moment of speech; false if it has not happened. */
  consume(moment: ScenarioMoment): boolean;
  /** Resolves when the condition is met. It is checked now, at each moment and at each `look`. */
  wait(isMet: () => boolean): Promise<void>;
  /** Checks the condition again. */
  look(): void;
}

/** Maximum number of moments that wait for a busy scenario; beyond it the oldest are dropped. */
const maxMoments = 64;

function createMoments(): Moments {
  const moments: ScenarioMoment[] = [];
  let awaited: { isMet: () => boolean; resolve: () => void } | undefined;
  const look = () => {
    if (awaited?.isMet() !== true) return;
    const { resolve } = awaited;
    awaited = undefined;
    resolve();
  };
  return {
    look,
    happen(moment) {
      if (moments.length >= maxMoments) moments.shift();
      moments.push(moment);
      look();
    },
    consume(moment) {
      const at = moments.indexOf(moment);
      if (at < 0) return false;
      const later = moments.splice(at).slice(1);
      // What the user said before is over. An event waits for whoever asks for it.
      const earlier = isSpeech(moment) ? moments.filter((one) => !isSpeech(one)) : moments;
      moments.splice(0, moments.length, ...earlier, ...later);
      return true;
    },
    wait: (isMet) =>
      new Promise((resolve) => {
        awaited = { isMet, resolve };
        look();
      }),
  };
}

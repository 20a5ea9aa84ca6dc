import type { ClockTimer } from '../../kernel/clock.ts';
import { playPcm } from '../replies/playable.ts';
import type { Reply, Voice } from '../replies/reply.ts';
import { detectTurns } from '../replies/turn-detector.ts';
import type { Trigger } from './scenario-schema.ts';

/** The stream on which a scenario plays. */
export interface Stage {
  readonly reply: Required<Pick<Reply, 'hear' | 'said' | 'event' | 'close'>>;
  /** The last turn of the user. */
  readonly utterance: Buffer;
  /** Resolves at the trigger; never if the stream ends first. */
  until(trigger: Trigger): Promise<void>;
  /** Resolves after the time; never if the stream ends first. */
  pause(ms: number): Promise<void>;
  /** Resolves when the audio is sent, or when the user talks over it. */
  say(pcm: Buffer, bargeIn: boolean): Promise<void>;
}

/** Most moments that wait for a busy scenario; beyond it the oldest are dropped. */
const maxMoments = 64;

type Moment = 'speech-start' | 'speech-end' | `event ${string}`;

export function createStage(voice: Voice): Stage {
  const moments: Moment[] = [];
  let awaited: { isMet: () => boolean; resolve: () => void } | undefined;
  let stopsAtSpeech = false;
  let finishSpeech: (() => void) | undefined;
  let heardBytes = 0;
  let utterance: Buffer = Buffer.alloc(0);
  const timers = new Set<ClockTimer>();
  let isOver = false;

  const look = () => {
    if (awaited?.isMet() !== true) return;
    const { resolve } = awaited;
    awaited = undefined;
    resolve();
  };
  const happen = (moment: Moment) => {
    if (moments.length >= maxMoments) moments.shift();
    moments.push(moment);
    look();
  };
  /** Removes the moment and all earlier ones. */
  const consume = (moment: Moment) => {
    const at = moments.indexOf(moment);
    if (at >= 0) moments.splice(0, at + 1);
    return at >= 0;
  };
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      if (isOver) return;
      const timer = voice.clock.after(ms, () => {
        timers.delete(timer);
        resolve();
      });
      timers.add(timer);
    });
  const wait = (isMet: () => boolean) =>
    new Promise<void>((resolve) => {
      if (isOver) return;
      awaited = { isMet, resolve };
      look();
    });
  const endSpeech = () => {
    finishSpeech?.();
    finishSpeech = undefined;
  };

  const turns = detectTurns(voice, {
    started() {
      if (stopsAtSpeech && voice.speaking) {
        voice.stop();
        voice.status('listening');
        endSpeech();
      }
      happen('speech-start');
    },
    ended(said) {
      utterance = said;
      happen('speech-end');
    },
  });

  return {
    get utterance() {
      return utterance;
    },
    pause,
    async until(trigger) {
      if (trigger === 'connected') return;
      if (typeof trigger === 'string') await wait(() => consume(trigger));
      else if ('after' in trigger) await pause(trigger.after);
      else if ('event' in trigger) await wait(() => consume(`event ${trigger.event}`));
      else {
        const start = heardBytes;
        await wait(() => heardBytes - start >= trigger.bytes);
      }
    },
    say(pcm, bargeIn) {
      stopsAtSpeech = bargeIn;
      return new Promise((resolve) => {
        if (isOver) return;
        finishSpeech = resolve;
        voice.status('speaking');
        voice.say(playPcm(pcm));
      });
    },
    reply: {
      hear(pcm) {
        heardBytes += pcm.length;
        turns.hear(pcm);
        look();
      },
      said() {
        voice.status('listening');
        endSpeech();
      },
      event: (name) => happen(`event ${name}`),
      close() {
        isOver = true;
        turns.close();
        for (const timer of timers) timer.cancel();
      },
    },
  };
}

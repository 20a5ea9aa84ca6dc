import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import type { FaultAt } from '../../protocol/faults.ts';
import type { FaultSubject, Faults } from './faults.ts';
import { createUserSounds, type UserSounds } from './user-sounds.ts';

export type EchoFault = FaultAt<'turn'> & { name: 'user-echo' };

/** What an AI does that takes turns; a proxy has none. */
export interface TurnTaker {
  /** Takes the turn of the user for over. */
  endTurn(): void;
  /** Says this besides what it says itself. */
  say(pcm: Buffer): void;
}

/** The faults about who speaks when, as far as no reply of the AI is spoilt. */
export interface TurnFaults {
  /** Takes what the user says. */
  hear(pcm: Buffer): void;
  /** Takes what the AI says. */
  said(pcm: Buffer, isReplyStart: boolean): void;
  readonly sounds: UserSounds;
  /** Whether a short sound came between the turn of the user and the reply that begins now. */
  readonly isNoiseBetween: boolean;
  /** The echo that struck the turn that goes on. */
  readonly echo: EchoFault | undefined;
  close(): void;
}

export interface TurnFaultsOptions {
  faults: Faults;
  about: FaultSubject;
  clock: Clock;
  taker: TurnTaker | undefined;
}

/** As much of a reply is said again. */
const mostRepeatedBytes = bytesForMs(5_000);

export function createTurnFaults({ faults, about, clock, taker }: TurnFaultsOptions): TurnFaults {
  let echo: TurnFaults['echo'];
  let early: ClockTimer | undefined;
  let answer: ClockTimer | undefined;
  let lastReply: Buffer[] = [];
  let replyBytes = 0;
  /** How many sounds there were when the AI last spoke. */
  let countAtReply = 0;

  const startTurn = (lastMs: number | undefined) => {
    echo = undefined;
    for (const fault of faults.strike('turn', about)) {
      if (fault.name === 'user-echo') echo ??= fault;
      else {
        early?.cancel();
        const afterMs = lastMs === undefined ? fault.after : Math.max(0, lastMs - fault.by);
        early = clock.after(afterMs, () => taker?.endTurn());
      }
    }
  };
  /** Answers a sound that is no turn, unless something has happened since. */
  const answerSound = (agoMs: number) => {
    const fault = faults.list().find(({ fault: { name } }) => name === 'answers-noise')?.fault;
    if (fault?.name !== 'answers-noise') return;
    const soundsThen = sounds.count;
    answer?.cancel();
    answer = clock.after(Math.max(0, fault.delay - agoMs), () => {
      const isAlone = sounds.count === soundsThen && soundsThen - countAtReply === 1;
      if (!isAlone || lastReply.length === 0 || faults.strike('sound', about).length === 0) return;
      taker?.say(Buffer.concat(lastReply));
    });
  };
  const sounds = createUserSounds({
    clock,
    onTurn: startTurn,
    onPause() {
      echo = undefined;
    },
    onShortSound: answerSound,
  });
  return {
    sounds,
    hear: sounds.hear,
    said(pcm, isReplyStart) {
      countAtReply = sounds.count;
      if (isReplyStart) {
        lastReply = [];
        replyBytes = 0;
      }
      if (replyBytes >= mostRepeatedBytes) return;
      lastReply.push(pcm);
      replyBytes += pcm.length;
    },
    get isNoiseBetween() {
      return sounds.isLastShort && sounds.count - countAtReply >= 2;
    },
    get echo() {
      return echo;
    },
    close() {
      early?.cancel();
      answer?.cancel();
    },
  };
}

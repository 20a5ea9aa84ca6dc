import type { Clock, ClockTimer } from '../../kernel/clock.ts';
import { queueCostBytes } from '../../kernel/queue-cost.ts';
import { bytesForMs } from '../../protocol/audio-format.ts';
import type { FaultAt } from '../../protocol/faults.ts';
import type { FaultSubject, Faults } from './faults.ts';
import { createUserSounds, type UserSounds } from './user-sounds.ts';

type TurnFault<Name extends string> = FaultAt<'turn' | 'sound'> & { name: Name };
export type EchoFault = TurnFault<'user-echo'>;

/** What an AI that takes turns can do; a proxy has none. */
export interface TurnTaker {
  /** Treats the user's turn as ended; false if there is none. */
  endTurn(): boolean;
  /** Says this in addition to its own replies. */
  say(pcm: Buffer): void;
}

/** The faults about who speaks when, except those that spoil a reply. */
export interface TurnFaults {
  /** Takes what the user says. */
  hear(pcm: Buffer): void;
  /** Takes what the AI says. */
  said(pcm: Buffer, isReplyStart: boolean): void;
  readonly sounds: UserSounds;
  /** The echo that struck what the user is saying. */
  readonly echo: EchoFault | undefined;
  close(): void;
}

export interface TurnFaultsOptions {
  faults: Faults;
  about: FaultSubject;
  clock: Clock;
  taker: TurnTaker | undefined;
  /** A shorter sound of the user is not a turn. */
  shortestTurnMs: number;
}

/** Maximum length of a reply that is repeated. */
const mostRepeatedBytes = bytesForMs(5_000);

export function createTurnFaults(options: TurnFaultsOptions): TurnFaults {
  const { faults, about, clock, taker, shortestTurnMs } = options;
  let echo: EchoFault | undefined;
  let early: ClockTimer[] = [];
  let answers: ClockTimer[] = [];
  /** The last reply, if it began while a fault could repeat it. */
  let lastReply: Buffer[] = [];
  let replyBytes = 0;
  let isKept = false;
  /** How many sounds there were when the AI last spoke. */
  let countAtReply = 0;

  const active = <Name extends TurnFault<string>['name']>(name: Name) =>
    faults.list().flatMap(({ fault }) => (fault.name === name ? [fault as TurnFault<Name>] : []));
  const cancelEarly = () => {
    for (const timer of early) timer.cancel();
    early = [];
  };
  /** The AI treats the turn as ended, if it still goes on then: nobody knows in advance how long it will be. */
  const awaitEnd = (agoMs: number, lastMs: number | undefined) => {
    cancelEarly();
    early = active('early-reply').map((fault) => {
      const afterMs = lastMs === undefined ? fault.after : lastMs - fault.by;
      const only = (other: unknown) => other === fault;
      return clock.after(Math.max(0, afterMs - agoMs), () =>
        faults.strike('turn', about, { only, acts: () => taker?.endTurn() === true }),
      );
    });
  };
  /** Replies to a sound that is not a turn, unless something has happened since. */
  const answerSound = (agoMs: number) => {
    const soundsThen = sounds.count;
    for (const timer of answers) timer.cancel();
    answers = active('answers-noise').map((fault) => {
      const only = (other: unknown) => other === fault;
      return clock.after(Math.max(0, fault.delay - agoMs), () => {
        const isAlone = sounds.count === soundsThen && soundsThen - countAtReply === 1;
        if (!isAlone || lastReply.length === 0 || faults.strike('sound', about, { only }).length === 0)
          return;
        taker?.say(Buffer.concat(lastReply));
      });
    });
  };
  const sounds = createUserSounds({
    ...{ clock, shortestTurnMs },
    onStart() {
      const only = ({ name }: { name: string }) => name === 'user-echo';
      [echo] = faults.strike('turn', about, { only }) as readonly EchoFault[];
    },
    onTurn: awaitEnd,
    onPause() {
      echo = undefined;
      cancelEarly();
    },
    onShortSound: answerSound,
  });
  return {
    sounds,
    hear: sounds.hear,
    said(pcm, isReplyStart) {
      countAtReply = sounds.count;
      sounds.answered();
      if (isReplyStart) {
        lastReply = [];
        replyBytes = 0;
        isKept = taker !== undefined && active('answers-noise').length > 0;
      }
      if (!isKept || pcm.length === 0 || replyBytes >= mostRepeatedBytes) return;
      lastReply.push(pcm);
      replyBytes += queueCostBytes(pcm.length);
    },
    get echo() {
      return echo !== undefined && faults.has(echo) ? echo : undefined;
    },
    close() {
      cancelEarly();
      for (const timer of answers) timer.cancel();
      sounds.close();
    },
  };
}

import type { Clock } from '../kernel/clock.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { readServiceMessage, writeMessage } from '../protocol/messages.ts';
import type { FaultSubject, Faults } from '../service/faults/faults.ts';
import { createFaultyAudio, type FaultyAudio } from '../service/faults/faulty-audio.ts';
import type { Side } from '../wire/exchange.ts';
import { otherSide, type Passage, type Spoiler } from './passage.ts';
import type { StreamWitness } from './stream-witness.ts';

export interface SpoilOptions {
  /** The side that sends. */
  from: Side;
  passage: Passage;
  witness: StreamWitness;
  faults: Faults;
  clock: Clock;
  dialect: Dialect;
  /** The stream and, once it is known, its device. */
  subject(): FaultSubject;
  /** Called with the audio of this side before it is changed. */
  onAudio(pcm: Buffer): void;
  /** Whether the device may present its token to the service. If not, it has been refused. */
  admitsToken(): boolean;
  onEnding(call: () => void): void;
}

/** Changes the traffic in one direction. It also hears the other direction, because faults depend on it. */
export type PassageSpoiler = Spoiler & Pick<FaultyAudio, 'hear'>;

/** Applies the active faults to one direction. Both sides are judged only by what they did themselves. */
export function createSpoiler(options: SpoilOptions): PassageSpoiler {
  const { from, passage, witness, faults, clock, dialect } = options;
  let isConfirmed = false;
  /** The message that faults act on, and whether its arrival was reported. */
  let current: Buffer | undefined;
  let isTold = false;
  let held = 0;
  let audio: FaultyAudio | undefined;

  const arrive = (data: Buffer, isBinary: boolean) => {
    if (!isTold) witness.arrived(from, data, isBinary);
    isTold = true;
  };
  const deliver = (data: Buffer, isBinary: boolean, isInjected: boolean) => {
    witness.delivered(from, data, isBinary, isInjected);
    passage.send(data, isBinary);
  };
  const pass = (data: Buffer, isBinary: boolean) => {
    isTold = true;
    passage.send(data, isBinary);
    witness.passed(from, data, isBinary);
  };
  const out = {
    send(pcm: Buffer) {
      if (pcm === current && !isTold) {
        pass(pcm, true);
        return;
      }
      if (current !== undefined) arrive(current, true);
      deliver(pcm, true, pcm !== current);
    },
  };
  /** Created when the device is known. */
  const spoilt = (): FaultyAudio => {
    if (audio === undefined) {
      const { shortestTurnMs } = dialect.stream;
      const subject: FaultSubject = { ...options.subject(), direction: otherSide[from] };
      audio = createFaultyAudio({ faults, subject, clock, out, shortestTurnMs });
      options.onEnding(audio.close);
    }
    return audio;
  };

  /** Passes the confirmation of the service on, unless a fault delays, changes or drops it. */
  const confirm = (data: Buffer) => {
    isConfirmed = true;
    const [fault] = faults.strike('connected', options.subject());
    if (fault === undefined) {
      pass(data, false);
      return;
    }
    arrive(data, false);
    const text = data.toString();
    if (fault.name === 'connected-malformed')
      deliver(Buffer.from(text.slice(0, text.length / 2)), false, true);
    if (fault.name === 'connected-unknown')
      deliver(Buffer.from(writeMessage(dialect, fault.kind)), false, true);
    if (fault.name !== 'connected-late') return;
    held += 1;
    const timer = clock.after(fault.delay, () => {
      held -= 1;
      deliver(data, false, false);
    });
    options.onEnding(timer.cancel);
  };

  return {
    get isActive() {
      return held > 0 || faults.list().length > 0 || audio?.isLate === true;
    },
    hear: (pcm) => spoilt().hear(pcm),
    take(data, isBinary) {
      current = data;
      isTold = false;
      const hadToken = witness.hasToken;
      if (isBinary && hadToken) {
        options.onAudio(data);
        spoilt().send(data);
        arrive(data, true);
      } else if (from === 'device') {
        witness.passed(from, data, isBinary);
        // From here on the device is known.
        if (hadToken || !witness.hasToken || options.admitsToken()) passage.send(data, isBinary);
        else witness.presentedInVain();
      } else if (!isConfirmed && isConfirmation(data)) confirm(data);
      else pass(data, isBinary);
      current = undefined;
    },
  };
}

function isConfirmation(data: Buffer): boolean {
  return readServiceMessage(data.toString()).category === 'connected';
}

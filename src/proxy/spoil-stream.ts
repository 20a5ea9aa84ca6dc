import type { Clock } from '../kernel/clock.ts';
import type { TemplateValues } from '../protocol/dialect/templates.ts';
import type { CloseCause, Dialect } from '../protocol/dialect.ts';
import { isConfirmingText, writeError, writeMessage } from '../protocol/messages.ts';
import type { FaultSubject, Faults } from '../service/faults/faults.ts';
import { createFaultyAudio, type FaultyAudio } from '../service/faults/faulty-audio.ts';
import { injectLiveFaults, type LiveFaultOptions } from '../service/faults/live-faults.ts';
import type { Side } from '../wire/exchange.ts';
import type { Joined } from './join-legs.ts';
import { type Leg, otherSide, type Passage, type Spoiler, sides } from './passage.ts';
import type { StreamWitness } from './stream-witness.ts';

export interface SpoilStreamOptions
  extends Pick<SpoilOptions, 'witness' | 'faults' | 'clock' | 'dialect' | 'subject'> {
  joined: Joined;
  legs: Readonly<Record<Side, Leg>>;
  values: TemplateValues;
  /** Called when a fault ends the stream. */
  onFault(): void;
}

export interface StreamSpoiler {
  /** The stream is confirmed: from now on live faults may strike. */
  confirmed(): void;
  /** The stream has ended. */
  end(): void;
}

/** Applies the active faults to both directions of a stream. */
export function spoilStream(options: SpoilStreamOptions): StreamSpoiler {
  const { joined, witness, faults, clock, dialect, subject } = options;
  const endings: (() => void)[] = [];
  let hasEnded = false;
  const onEnding = (call: () => void) => {
    if (hasEnded) call();
    else endings.push(call);
  };

  const refuse = (cause: CloseCause) => {
    const { close, reason, code, message } = dialect.stream.closes[cause];
    options.onFault();
    if (dialect.stream.errorBeforeClose)
      injectText(options, 'device', writeError(dialect, code, message, options.values));
    joined.passages.device.isSilent = true;
    joined.closeTowards('device', close, reason);
  };
  /** Applies the faults about tokens. A token that they refuse is not shown to the service. */
  const admitsToken = () => {
    const [fault] = faults.strike('authorise', subject());
    if (fault === undefined) return true;
    refuse(fault.name === 'connection-limit' ? 'tooManyConnections' : fault.cause);
    return false;
  };

  const spoilerFrom = (from: Side, onAudio: (pcm: Buffer) => void) => {
    const passage = joined.passages[from];
    const spoiler = createSpoiler({
      ...{ from, passage, witness, faults, clock, dialect, subject, admitsToken, onEnding, onAudio },
    });
    passage.spoiler = spoiler;
    return spoiler;
  };
  const service = spoilerFrom('service', () => {});
  spoilerFrom('device', service.hear);
  return {
    confirmed() {
      for (const side of sides) {
        const connection = liveSide(side, options, onEnding);
        injectLiveFaults({ connection, clock, dialect, faults }, { ...subject(), direction: side });
      }
    },
    end() {
      hasEnded = true;
      for (const call of endings.splice(0)) call();
    },
  };
}

/** Sends a text that neither side has sent. */
export function injectText(
  { joined, witness }: Pick<SpoilStreamOptions, 'joined' | 'witness'>,
  to: Side,
  text: string,
): void {
  const data = Buffer.from(text);
  witness.delivered(otherSide[to], data, false, true);
  joined.passages[otherSide[to]].send(data, false);
}

/** One side of a stream, as live faults see it. */
function liveSide(
  side: Side,
  options: SpoilStreamOptions,
  onEnding: (call: () => void) => void,
): LiveFaultOptions['connection'] {
  const { joined, legs, clock, values, onFault } = options;
  const { socket, transport } = legs[side];
  return {
    values,
    onEnding,
    sendText: (text) => injectText(options, side, text),
    sendRaw: (text) => injectText(options, side, text),
    closeWith(code, reason) {
      onFault();
      joined.closeTowards(side, code, reason);
    },
    cut(how) {
      onFault();
      joined.cut(side, how);
    },
    freeze() {
      onFault();
      joined.freeze();
    },
    stall(ms) {
      transport.cork();
      const timer = clock.after(ms, () => transport.uncork());
      onEnding(() => {
        timer.cancel();
        transport.uncork();
      });
    },
    stopReading: () => socket.pause(),
  };
}

interface SpoilOptions {
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
type PassageSpoiler = Spoiler & Pick<FaultyAudio, 'hear'>;

/** Applies the active faults to one direction. Both sides are judged only by what they did themselves. */
function createSpoiler(options: SpoilOptions): PassageSpoiler {
  const { from, passage, witness, faults, clock, dialect } = options;
  let isConfirmed = false;
  /** The message that faults act on, and whether its arrival was reported. */
  let current: Buffer | undefined;
  let isReported = false;
  let held = 0;
  let audio: FaultyAudio | undefined;

  const arrive = (data: Buffer, isBinary: boolean) => {
    if (!isReported) witness.arrived(from, data, isBinary);
    isReported = true;
  };
  const deliver = (data: Buffer, isBinary: boolean, isInjected: boolean) => {
    witness.delivered(from, data, isBinary, isInjected);
    passage.send(data, isBinary);
  };
  const pass = (data: Buffer, isBinary: boolean) => {
    isReported = true;
    passage.send(data, isBinary);
    witness.passed(from, data, isBinary);
  };
  const out = {
    send(pcm: Buffer) {
      if (pcm === current && !isReported) {
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
    push(data, isBinary) {
      current = data;
      isReported = false;
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
      } else if (!isConfirmed && isConfirmingText(data.toString())) confirm(data);
      else pass(data, isBinary);
      current = undefined;
    },
  };
}

import type { TemplateValues } from '../protocol/dialect/templates.ts';
import type { CloseCause } from '../protocol/dialect.ts';
import { writeError } from '../protocol/messages.ts';
import { injectLiveFaults, type LiveFaultOptions } from '../service/faults/live-faults.ts';
import type { Side } from '../wire/exchange.ts';
import type { Joined } from './join-legs.ts';
import { type Leg, otherSide, sides } from './passage.ts';
import { createSpoiler, type SpoilOptions } from './spoil-passage.ts';

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
      inject(options, 'device', writeError(dialect, code, message, options.values));
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
export function inject(
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
    sendText: (text) => inject(options, side, text),
    sendRaw: (text) => inject(options, side, text),
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

import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import type { FaultAt } from '../../protocol/faults.ts';
import { writeError, writeMessage } from '../../protocol/messages.ts';
import type { OpenStream } from '../streams/open-stream.ts';
import type { FaultSubject, Faults, StrikeFaults } from './faults.ts';

export interface LiveFaultOptions {
  connection: Pick<
    OpenStream,
    'sendText' | 'sendRaw' | 'closeWith' | 'cut' | 'freeze' | 'stall' | 'stopReading' | 'onEnding' | 'values'
  >;
  clock: Clock;
  dialect: Dialect;
  faults: Faults;
}

/** Applies faults to a live stream: those active when it begins, and each one added later. */
export function injectLiveFaults(options: LiveFaultOptions, subject: FaultSubject): void {
  const { connection, clock, faults } = options;
  const apply = (strike: StrikeFaults) => {
    const later: FaultAt<'live'>[] = [];
    const only = (fault: FaultAt<'live'>) => {
      if (fault.after > 0) later.push(fault);
      return fault.after === 0;
    };
    for (const fault of strike('live', subject, { only })) inject(fault, options);
    for (const fault of later) {
      // It strikes when its time has come, if it is still active.
      const timer = clock.after(fault.after, () => {
        for (const struck of faults.strike('live', subject, { only: (one) => one === fault }))
          inject(struck, options);
      });
      connection.onEnding(timer.cancel);
    }
  };
  connection.onEnding(faults.onAdded(apply));
  apply(faults.strike);
}

const malformedText = '{"type": "status", "state": ';

function inject(fault: FaultAt<'live'>, { connection, dialect }: LiveFaultOptions): void {
  switch (fault.name) {
    case 'message-malformed':
      connection.sendRaw(malformedText);
      break;
    case 'message-unknown':
      connection.sendText(writeMessage(dialect, fault.kind));
      break;
    case 'message-error':
      connection.sendText(writeError(dialect, fault.code, fault.message, connection.values));
      break;
    case 'close':
      connection.closeWith(fault.code, fault.reason, 'fault');
      break;
    case 'abnormal-close':
      connection.cut('end');
      break;
    case 'reset':
      connection.cut('reset');
      break;
    case 'half-open':
      connection.freeze();
      break;
    case 'stall':
      connection.stall(fault.for);
      break;
    case 'deaf':
      connection.stopReading();
      break;
  }
}

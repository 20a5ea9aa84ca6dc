import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { writeConnected, writeDialectMessage, writeMessage } from '../../protocol/messages.ts';
import type { FaultSubject, Faults } from '../../service/faults/faults.ts';
import type { StreamConnection } from './connection.ts';

export interface ConfirmOptions {
  connection: Pick<StreamConnection, 'sendText' | 'sendRaw' | 'onEnding' | 'values'>;
  clock: Clock;
  dialect: Dialect;
  faults: Pick<Faults, 'strike'>;
}

/**
 * Confirms the stream, unless a fault delays, spoils or drops the confirmation. Returns a promise if it is delayed: send
 * nothing before that resolves. Specification: "WSS /voice-stream".
 */
export function sendConnected(
  { connection, clock, dialect, faults }: ConfirmOptions,
  subject: FaultSubject,
): Promise<void> | undefined {
  const { values } = connection;
  const { before, after } = dialect.stream.connected;
  for (const message of before) connection.sendText(writeDialectMessage(message, values));
  const whole = writeConnected(dialect, values);
  const sendAfter = () => {
    for (const message of after) connection.sendText(writeDialectMessage(message, values));
  };
  const [fault] = faults.strike('connected', subject);
  switch (fault?.name) {
    case undefined:
      connection.sendText(whole);
      break;
    case 'connected-late': {
      const { delay } = fault;
      return new Promise((resolve) => {
        const timer = clock.after(delay, () => {
          connection.sendText(whole);
          sendAfter();
          resolve();
        });
        connection.onEnding(timer.cancel);
      });
    }
    case 'connected-malformed':
      connection.sendRaw(whole.slice(0, whole.length / 2));
      break;
    case 'connected-unknown':
      connection.sendText(writeMessage(dialect, fault.kind));
      break;
    case 'connected-missing':
  }
  sendAfter();
  return undefined;
}

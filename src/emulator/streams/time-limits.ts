import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import type { ReceiveMessage } from './authorisation.ts';
import type { StreamConnection } from './connection.ts';

export interface TimeLimitOptions {
  connection: Pick<StreamConnection, 'close' | 'onEnding'>;
  /** The clock of the service, which can be moved forward. */
  clock: Clock;
  settings: Pick<Dialect['stream'], 'idleTimeoutMs' | 'longestSessionMs'>;
}

/** Closes a stream that lasts too long or receives nothing for too long, if the dialect says so. */
export function limitTime(receive: ReceiveMessage, options: TimeLimitOptions): ReceiveMessage {
  const { connection, clock, settings } = options;
  const { idleTimeoutMs, longestSessionMs } = settings;
  if (longestSessionMs !== undefined) {
    const end = clock.after(longestSessionMs, () => connection.close('sessionTooLong'));
    connection.onEnding(() => end.cancel());
  }
  return idleTimeoutMs === undefined ? receive : watchIdle(receive, idleTimeoutMs, options);
}

/** One timer for the whole stream: a message only sets a time. */
function watchIdle(
  receive: ReceiveMessage,
  idleTimeoutMs: number,
  { connection, clock }: TimeLimitOptions,
): ReceiveMessage {
  let lastAt = clock.now();
  const look = () => {
    const leftMs = lastAt + idleTimeoutMs - clock.now();
    if (leftMs <= 0) connection.close('idle');
    else timer = clock.after(leftMs, look);
  };
  let timer = clock.after(idleTimeoutMs, look);
  connection.onEnding(() => timer.cancel());
  return (data, isBinary) => {
    lastAt = clock.now();
    receive(data, isBinary);
  };
}

import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import type { TakeMessage } from './authorisation.ts';
import type { Connection } from './connection.ts';

export interface TimeLimitOptions {
  connection: Pick<Connection, 'close' | 'onEnding'>;
  /** The clock of the service, which can be moved forward. */
  clock: Clock;
  settings: Pick<Dialect['stream'], 'idleTimeoutMs' | 'longestSessionMs'>;
}

/** Closes a stream that lasts too long or receives nothing for too long, if the dialect says so. */
export function limitTime(take: TakeMessage, options: TimeLimitOptions): TakeMessage {
  const { connection, clock, settings } = options;
  const { idleTimeoutMs, longestSessionMs } = settings;
  if (longestSessionMs !== undefined) {
    const end = clock.after(longestSessionMs, () => connection.close('sessionTooLong'));
    connection.onEnding(() => end.cancel());
  }
  return idleTimeoutMs === undefined ? take : watchIdle(take, idleTimeoutMs, options);
}

/** One timer for the whole stream: a message only sets a time. */
function watchIdle(
  take: TakeMessage,
  idleTimeoutMs: number,
  { connection, clock }: TimeLimitOptions,
): TakeMessage {
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
    take(data, isBinary);
  };
}

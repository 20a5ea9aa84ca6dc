import { systemClock } from '../../kernel/clock.ts';
import { isUnavailable, stateUnavailable } from '../../service/state/state.ts';
import { connectRedis, type RedisConnection } from './connection.ts';
import { answers, type Script } from './scripts/script.ts';

/** How often a lost connection is retried, and how long one attempt may take. */
const retryEveryMs = 100;
const retryDeadlineMs = 1_000;

export interface LinkOptions {
  url: string;
  scripts: readonly Script[];
  /** Makes the emulator part of the service again, over a new connection. Throws if that is not possible. */
  comeBack: (connection: RedisConnection) => Promise<void>;
  /** Redis cannot be reached: the shared state grants nothing. */
  onAway: (why: string) => void;
  onBack: (awayMs: number) => void;
}

/**
 * The connection to Redis. Notices when Redis cannot be reached, and retries until it can. A *life* of the service
 * lasts as long as Redis keeps its data: after a loss of data the service has a new life, with another id.
 */
export interface RedisLink {
  readonly isUp: boolean;
  /**
   * Runs a script. Throws `connect-failed` if Redis cannot be reached, if it has lost its data, and while it grants nothing
   * for a moment after that.
   */
  run: RedisConnection['run'];
  /** The open connection. Throws `connect-failed` if there is none. */
  connection(): RedisConnection;
  begin(connection: RedisConnection, life: string): void;
  /** Sets the life in which scripts run from now on. */
  setLife(life: string): void;
  /** Gives the connection up, and begins to reconnect. Does nothing if there is no connection. */
  lost(why: string): void;
  close(): void;
}

export function createRedisLink(options: LinkOptions): RedisLink {
  let current: RedisConnection | undefined;
  let life = '';
  let awaySince: number | undefined;
  let why = 'not connected';
  let closed = false;

  const connection = () => {
    if (current === undefined) throw stateUnavailable(`The shared state is unavailable: ${why}`);
    return current;
  };
  const lost = (reason: string) => {
    if (closed || current === undefined) return;
    current.close();
    current = undefined;
    why = reason;
    awaySince = systemClock.now();
    options.onAway(reason);
    void retry();
  };
  const attempt = async () => {
    let isLost = false;
    // Undefined while it connects.
    let made: RedisConnection | undefined;
    made = await connectRedis({
      url: options.url,
      scripts: options.scripts,
      deadlineMs: retryDeadlineMs,
      onLost(reason) {
        isLost = true;
        if (current === made) lost(reason);
      },
    });
    try {
      await options.comeBack(made);
      if (isLost) throw stateUnavailable('lost again');
      return made;
    } catch (thrown) {
      made.close();
      throw thrown;
    }
  };
  const retry = async () => {
    while (!closed) {
      await new Promise<void>((resolve) => {
        systemClock.after(retryEveryMs, resolve, { background: true });
      });
      const made = await attempt().catch((thrown: Error) => {
        why = thrown.message;
      });
      if (made === undefined) continue;
      if (closed) {
        made.close();
        return;
      }
      current = made;
      const awayMs = systemClock.now() - (awaySince ?? 0);
      awaySince = undefined;
      options.onBack(awayMs);
      return;
    }
  };

  return {
    get isUp() {
      return current !== undefined;
    },
    connection,
    lost,
    begin(made, belongsTo) {
      current = made;
      life = belongsTo;
    },
    setLife(belongsTo) {
      life = belongsTo;
    },
    async run(script, keys, args) {
      const answer = await connection().run(script, keys, [life, ...args]);
      if (answer[0] === answers.lost) lost('Redis has lost its data');
      if (answer[0] !== answers.done) throw stateUnavailable('The shared state is coming back: try again');
      return answer;
    },
    close() {
      closed = true;
      current?.close();
      current = undefined;
    },
  };
}

/** For work that is repeated when Redis is back. */
export function ignoreAway(thrown: unknown): void {
  if (!isUnavailable(thrown)) throw thrown;
}

import { RedisClient } from '@redis/client';
import { atTurnEnd, type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { stateUnavailable } from '../../service/state/state.ts';
import type { Script } from './scripts/script.ts';

/** What Redis answers: texts, numbers, and lists of these. */
export type RedisReply = string | number | null | readonly RedisReply[];

/** One connection to Redis. Once it is lost, every call fails. */
export interface RedisConnection {
  /** Runs a script that was given at the start. */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly RedisReply[]>;
  /**
   * `slackMs`: how much longer the answer may take, because it is long. `optional`: if Redis refuses the command, the
   * connection stays.
   */
  send(command: readonly string[], options?: { slackMs?: number; optional?: boolean }): Promise<RedisReply>;
  listen(channel: string, listener: (message: string) => void): Promise<void>;
  unlisten(channel: string): Promise<void>;
  close(): void;
}

export interface RedisOptions {
  url: string;
  scripts: readonly Script[];
  deadlineMs: number;
  /** Called once, unless the connection was closed here. */
  onLost: (why: string) => void;
}

/** A class with a method for each command of Redis: it takes 60 ms to make, so all connections share one. */
const createClient = RedisClient.factory({});

/**
 * Connects to Redis, with TLS for `rediss:`. If commands wait and none is answered for 250 ms, the connection is lost. A
 * command without an answer may still run: its failure does not mean that nothing was done. Throws `connect-failed`.
 */
export async function connectRedis({
  url,
  scripts,
  deadlineMs,
  onLost,
}: RedisOptions): Promise<RedisConnection> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { reconnectStrategy: false, connectTimeout: deadlineMs },
  });
  let isOpen = true;
  const lose = (why: string, tells = true) => {
    if (!isOpen) return;
    isOpen = false;
    deadline.stop();
    client.destroy();
    if (tells) onLost(why);
  };
  const deadline = watchDeadline(() => lose(`no answer in ${answerDeadlineMs} ms`));
  client.on('error', (error: unknown) => lose(textOf(error)));
  client.on('end', () => lose('the connection has ended'));

  const send: RedisConnection['send'] = async (command, { slackMs, optional } = {}) => {
    if (!isOpen) throw stateUnavailable('The connection to Redis is lost');
    if (slackMs !== undefined) deadline.allow(slackMs);
    deadline.sent();
    try {
      return (await client.sendCommand(command)) as unknown as RedisReply;
    } catch (thrown) {
      if (optional !== true && !isOfOneKey(textOf(thrown))) lose(textOf(thrown));
      throw stateUnavailable(`Redis: ${textOf(thrown)}`, thrown);
    } finally {
      deadline.answered();
    }
  };

  const tooLate = systemClock.after(deadlineMs, () => lose('no answer', false), { background: true });
  try {
    await client.connect();
    await Promise.all(scripts.map(({ lua }) => send(['SCRIPT', 'LOAD', lua])));
  } catch (thrown) {
    lose('', false);
    throw stateUnavailable(textOf(thrown), thrown);
  } finally {
    tooLate.cancel();
  }
  if (!isOpen) throw stateUnavailable('no answer');
  return {
    send,
    run: (script, keys, args) =>
      send(['EVALSHA', script.sha, String(keys.length), ...keys, ...args.map(String)]) as Promise<
        readonly RedisReply[]
      >,
    async listen(channel, listener) {
      await client.subscribe(channel, listener).catch((thrown) => {
        lose(textOf(thrown));
        throw stateUnavailable(`Redis: ${textOf(thrown)}`, thrown);
      });
    },
    async unlisten(channel) {
      if (isOpen) await client.unsubscribe(channel);
    },
    close: () => lose('', false),
  };
}

function textOf(thrown: unknown): string {
  const { message, code } = thrown as { message?: string; code?: string };
  return message || code || String(thrown);
}

/**
 * Whether a command failed because of what a key holds, such as a text of another program: other commands continue. A
 * script reports the line, even if Redis itself is the reason.
 */
function isOfOneKey(why: string): boolean {
  if (/READONLY|OOM|MISCONF|NOAUTH|NOPERM|LOADING|MASTERDOWN|CLUSTERDOWN|NOREPLICAS/.test(why)) return false;
  return /^WRONGTYPE|user_script:\d+/.test(why);
}

/** Redis counts as unreachable if commands wait and none was answered for this long. */
const answerDeadlineMs = 250;
const checkEveryMs = 10;
/** A late check counts for at most this long: if this process got no CPU time, Redis may have got none either. */
const mostPerCheckMs = 50;

/** Watches that answers keep arriving: then a long queue is not a failure. One timer serves all commands. */
interface DeadlineWatch {
  sent(): void;
  answered(): void;
  /** Allows for one long answer. */
  allow(extraMs: number): void;
  stop(): void;
}

/** Calls `onOverdue` once, when commands wait and none was answered for `answerDeadlineMs`. */
function watchDeadline(onOverdue: () => void): DeadlineWatch {
  let waiting = 0;
  let isMoving = false;
  let silentMs = 0;
  let lookedAt = 0;
  let patientUntil = 0;
  let timer: ClockTimer | undefined;
  let stopped = false;

  const isOverdue = () => {
    const now = systemClock.now();
    silentMs = isMoving ? 0 : silentMs + Math.min(now - lookedAt, mostPerCheckMs);
    isMoving = false;
    lookedAt = now;
    return waiting > 0 && silentMs >= answerDeadlineMs && now >= patientUntil;
  };
  const arm = () => {
    timer = systemClock.after(checkEveryMs, look, { background: true });
  };
  const look = () => {
    timer = undefined;
    if (stopped || waiting === 0) return;
    if (!isOverdue()) {
      arm();
      return;
    }
    // This process itself may have been stopped: read first the answers that have arrived.
    atTurnEnd(lookAgain, undefined);
  };
  const lookAgain = () => {
    if (stopped) return;
    if (isOverdue()) onOverdue();
    else if (waiting > 0) arm();
  };
  return {
    sent() {
      waiting += 1;
      if (timer !== undefined || stopped) return;
      silentMs = 0;
      isMoving = false;
      lookedAt = systemClock.now();
      arm();
    },
    answered() {
      waiting -= 1;
      isMoving = true;
    },
    allow(extraMs) {
      patientUntil = Math.max(patientUntil, systemClock.now() + extraMs);
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

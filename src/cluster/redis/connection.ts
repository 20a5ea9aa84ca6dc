import { RedisClient } from '@redis/client';
import { systemClock } from '../../kernel/clock.ts';
import { unavailable } from '../../service/state/unavailable.ts';
import { answerDeadlineMs, watchDeadline } from './deadline.ts';
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
  /** Calls the listener for each message on a channel. */
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
    if (!isOpen) throw unavailable('The connection to Redis is lost');
    if (slackMs !== undefined) deadline.allow(slackMs);
    deadline.sent();
    try {
      return (await client.sendCommand(command)) as unknown as RedisReply;
    } catch (thrown) {
      if (optional !== true) lose(textOf(thrown));
      throw unavailable(`Redis: ${textOf(thrown)}`, thrown);
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
    throw unavailable(textOf(thrown), thrown);
  } finally {
    tooLate.cancel();
  }
  if (!isOpen) throw unavailable('no answer');
  return {
    send,
    run: (script, keys, args) =>
      send(['EVALSHA', script.sha, String(keys.length), ...keys, ...args.map(String)]) as Promise<
        readonly RedisReply[]
      >,
    async listen(channel, listener) {
      await client.subscribe(channel, listener);
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

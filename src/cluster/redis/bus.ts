import { systemClock } from '../../kernel/clock.ts';
import { createDeferred } from '../../kernel/promises.ts';
import { shortText } from '../../kernel/short-text.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisKeys } from './keys.ts';
import type { RedisLink } from './link.ts';

/** How long emulators may take to answer. */
const answerWithinMs = 1_000;
const bigMessageSlackMs = 2_000;

/** A message to all emulators: `op` names what to do. `id` and `from` say where the answer goes; without them nobody answers. */
export interface BusMessage {
  op: string;
  args: unknown;
  id?: number;
  from?: string;
}

/** Asks all emulators of the service, this one included. All receive the questions in the same order. */
export interface Bus {
  /** The answers of the emulators that answer within 1 s, in any order. Throws `connect-failed`. */
  ask(op: string, args: unknown): Promise<unknown[]>;
  /** Sends a message to all, and does not wait. */
  publish(op: string, args: unknown): void;
  /** Listens over this connection. */
  join(connection: RedisConnection): Promise<void>;
}

export interface BusOptions {
  link: RedisLink;
  keys: RedisKeys;
  /** Id of this emulator. */
  emulator: string;
  /** Does what another emulator asks, and answers with JSON. */
  perform: (asked: BusMessage) => unknown;
  /** Called with how many emulators did not answer in time. */
  onMissing: (op: string, missing: number) => void;
  /** Called with what is ignored, because another program wrote it. */
  onForeign: (what: string) => void;
}

function isBusMessage(value: unknown): value is BusMessage {
  if (!isRecord(value) || typeof value.op !== 'string') return false;
  const { id, from } = value;
  return (id === undefined && from === undefined) || (typeof id === 'number' && typeof from === 'string');
}

interface Question {
  answers: unknown[];
  missing: number;
  done: () => void;
}

export function createBus({ link, keys, emulator, perform, onMissing, onForeign }: BusOptions): Bus {
  const open = new Map<number, Question>();
  let asked = 0;

  const publish = async (channel: string, message: unknown): Promise<number> => {
    const text = JSON.stringify(message);
    const slackMs = text.length > 100_000 ? { slackMs: bigMessageSlackMs } : {};
    return Number(await link.connection().send(['PUBLISH', channel, text], slackMs));
  };
  const hear = (text: string) => {
    const message = parseJson(text);
    if (!isBusMessage(message)) {
      onForeign('messages');
      return;
    }
    let result: unknown;
    try {
      result = perform(message);
    } catch {
      onForeign(`messages (${shortText(message.op)})`);
      return;
    }
    if (message.id === undefined || message.from === undefined) return;
    const answer = { id: message.id, result: result ?? null };
    publish(keys.answers(message.from), answer).catch(() => {});
  };
  const hearAnswer = (text: string) => {
    const answer = parseJson(text);
    if (!isRecord(answer)) {
      onForeign('answers');
      return;
    }
    const { id, result } = answer;
    const question = open.get(id as number);
    if (question === undefined) return;
    question.answers.push(result);
    question.missing -= 1;
    if (question.missing === 0) question.done();
  };

  return {
    async join(connection) {
      await connection.listen(keys.asks, hear);
      await connection.listen(keys.answers(emulator), hearAnswer);
    },
    publish(op, args) {
      if (link.isUp) publish(keys.asks, { op, args }).catch(() => {});
    },
    async ask(op, args) {
      const id = ++asked;
      const all = createDeferred();
      const question: Question = { answers: [], missing: 0, done: all.resolve };
      open.set(id, question);
      const timer = systemClock.after(answerWithinMs, () => question.done());
      try {
        const receivers = await publish(keys.asks, { op, args, id, from: emulator });
        // Answers may have arrived before Redis said how many emulators were asked.
        question.missing += receivers;
        if (question.missing > 0) await all.promise;
      } finally {
        timer.cancel();
        open.delete(id);
      }
      if (question.missing > 0) onMissing(op, question.missing);
      return question.answers;
    },
  };
}

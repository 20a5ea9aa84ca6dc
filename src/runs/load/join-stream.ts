import type { LoadMetric } from '../../config/threshold.ts';
import { waitUntil } from '../../kernel/clock.ts';
import type { VoicectlError } from '../../kernel/errors.ts';
import { createDeferred } from '../../kernel/promises.ts';
import { createRedactor, type Redactor } from '../../kernel/redact.ts';
import { createMessageReader, isInterruption } from '../../protocol/messages.ts';
import type { FastStream, FastStreamEnd } from '../../wire/client/fast-stream.ts';
import { ServiceErrors } from '../../wire/client/refusal-error.ts';
import { requestToken, type TokenGrant } from '../../wire/client/token.ts';
import { concealText } from '../../wire/conceal.ts';
import type { LoadContext, PlannedSession } from './context.ts';
import type { ReplyMeter } from './reply-meter.ts';

/** A confirmed stream. */
export interface LoadStream {
  stream: FastStream;
  confirmedAt: number;
  ended: Promise<FastStreamEnd>;
  /** Why it ended, unless the service closed it normally. */
  breakage(end: FastStreamEnd): VoicectlError | undefined;
}

/**
 * Requests a token. Its time counts from when the request was due. Throws what `requestToken` throws, and `timed-out` when
 * the session is given up.
 */
export async function fetchToken(
  context: Pick<LoadContext, 'clock' | 'target' | 'signal' | 'tally' | 'times'>,
  { due, device }: PlannedSession,
  redactor: Redactor,
): Promise<Pick<TokenGrant, 'token' | 'at'>> {
  const { clock, target, signal, tally, times } = context;
  try {
    const { token, at } = await requestToken({
      ...target,
      deviceId: device,
      retries: 0,
      timeoutMs: times.giveUpMs,
      ...{ clock, signal, redactor },
    });
    tally.finished('token', at - due);
    return { token, at };
  } catch (thrown) {
    tally.unfinished('token', clock.now() - due);
    throw thrown;
  }
}

/**
 * Requests a token, connects and presents it. The time of each step counts from when it was due; if a step fails, its age
 * counts as a lower bound. Throws the reason of the failure.
 */
export async function joinStream(
  context: LoadContext,
  planned: PlannedSession,
  meter: ReplyMeter,
): Promise<LoadStream> {
  const { signal, clock, times } = context;
  const redactor = createRedactor();
  redactor.conceal(context.target.apiKey);
  const { token, at } = await fetchToken(context, planned, redactor);
  const joining = openStream(context, { token, redactor, meter, due: at });
  const done = new AbortController();
  const givenUpAt = planned.due + times.giveUpMs;
  const limit = waitUntil(clock, givenUpAt, AbortSignal.any([signal, done.signal])).then(() => {
    throw joining.errors.unconfirmedError(`Not confirmed within ${times.giveUpMs / 1000} s of its arrival`);
  });
  limit.catch(() => {});
  try {
    return await Promise.race([joining.confirmed, limit]);
  } catch (thrown) {
    joining.giveUp();
    throw redactor.thrown(thrown);
  } finally {
    done.abort();
  }
}

function openStream(
  { dial, tally, clock, task }: LoadContext,
  { token, redactor, meter, due }: { token: string; redactor: Redactor; meter: ReplyMeter; due: number },
) {
  let step: { metric: LoadMetric; due: number } | undefined = { metric: 'connect', due };
  const errors = new ServiceErrors();
  let cut = () => {};
  const ended = createDeferred<FastStreamEnd>();
  const pass = (at: number) => {
    if (step !== undefined) tally.finished(step.metric, at - step.due);
  };
  const readText = createMessageReader();
  const giveUpStep = () => {
    if (step !== undefined) tally.unfinished(step.metric, clock.now() - step.due);
    step = undefined;
  };
  const breakage = (end: FastStreamEnd, phase: 'authorising' | 'live' = 'live') => {
    if (end.failure !== undefined) return end.failure;
    return errors.endError({ code: end.code, reason: redactor.text(end.reason) }, phase);
  };
  const confirmed = new Promise<LoadStream>((resolve, reject) => {
    const stream: FastStream = dial({
      onOpen(at) {
        pass(at);
        step = { metric: 'confirmed', due: at };
        stream.sendText(token);
      },
      onText(text, at) {
        const message = readText(concealText(text, redactor));
        errors.heard(message);
        if (isInterruption(message)) meter.interrupted(at);
        if (message.category !== 'connected' || step === undefined) return;
        pass(at);
        step = undefined;
        // A device that only listens waits from now on; audio may be in the same packet.
        if (task === 'listen') meter.expect(at);
        resolve({ stream, confirmedAt: at, ended: ended.promise, breakage });
      },
      onAudio(bytes, at) {
        errors.heardAudio();
        meter.hear(bytes, at, stream);
      },
      onEnd(end) {
        giveUpStep();
        reject(breakage(end, 'authorising'));
        ended.resolve(end);
      },
    });
    cut = () => stream.cut();
  });
  return {
    confirmed,
    errors,
    /** Ends the connection; a step that was under way counts with its age. */
    giveUp() {
      giveUpStep();
      confirmed.catch(() => {});
      cut();
    },
  };
}

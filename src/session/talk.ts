import { reframe } from '../audio/blocks.ts';
import { createPacer, type Pace, type Pacer } from '../audio/pacer.ts';
import type { TimedMessage } from '../audio/source.ts';
import { isBackgroundHeard, isReplyHeard, replyOverAt } from '../audio/turn-taking.ts';
import { type Clock, waitUntil } from '../kernel/clock.ts';
import { abortable } from '../kernel/promises.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import type { VoiceStream } from '../wire/client/voice-stream.ts';
import type { Ledger } from './ledger.ts';
import type { Metrics } from './metrics.ts';
import type { SessionOptions } from './options.ts';

export interface TalkParts {
  options: SessionOptions;
  ledger: Ledger;
  stream: VoiceStream;
  /** When reading from the service, or this process, was last paused: now, if it is. */
  pausedUntil(): number;
  /** When the AI's speech last arrived. */
  voicedAt(): number;
  /** A reply counts as over although audible audio goes on: only background is left. */
  onBackground(): void;
  signal: AbortSignal;
}

/** Sends the source, then silence, until the reply has ended. Rejects with the signal's reason. */
export async function talk(parts: TalkParts): Promise<void> {
  const { options, ledger, signal } = parts;
  const { pace, source } = options;
  // A recording includes its final silence.
  const tailMs = options.tailMs ?? (source.messages === undefined ? undefined : 0);
  ledger.emit({ type: 'state', state: 'live' });
  const pacer = startPacer(parts, pace);
  if (source.messages === undefined) await send(parts, readSource(options, signal), pacer);
  else await sendMessages(parts, source.messages);
  ledger.sourceEnded();
  ledger.emit({ type: 'state', state: 'draining' });
  // A conversation that was not stopped has already waited for the reply to its last turn.
  if (options.conversation !== undefined && options.enough?.aborted !== true) return;
  // Silence takes real time, even if the source did not.
  const tailPacer = pace === 'max' ? startPacer(parts, 1) : pacer;
  if (tailMs === undefined) {
    await hearReplyOverSilence(parts, tailPacer);
  } else {
    await send(parts, silence(tailMs), tailPacer);
    await hearReply(parts);
  }
}

/** Sends messages unchanged at their own times, `pace` times as fast, until `enough` aborts. */
async function sendMessages(parts: TalkParts, messages: readonly TimedMessage[]): Promise<void> {
  const { clock, pace, loop, enough = never } = parts.options;
  do {
    const startedAt = clock.now();
    for (const { atMs, pcm } of messages) {
      if (enough.aborted) return;
      if (pace !== 'max') {
        const dueAt = startedAt + atMs / pace;
        if (dueAt > clock.now() && !(await isReached(clock, dueAt, parts.signal, enough))) return;
        // What was recorded before the confirmation is due at once.
        parts.ledger.metrics.sentLate(clock.now() - Math.max(dueAt, startedAt));
      }
      await sendMessage(parts, pcm);
    }
  } while (loop);
}

/** Waits until a moment; false if `enough` aborts first. Rejects with the reason of `signal`. */
async function isReached(
  clock: Clock,
  moment: number,
  signal: AbortSignal,
  enough: AbortSignal,
): Promise<boolean> {
  try {
    await waitUntil(clock, moment, AbortSignal.any([signal, enough]));
    return true;
  } catch (thrown) {
    if (!enough.aborted || signal.aborted) throw thrown;
    return false;
  }
}

async function hearReplyOverSilence(parts: TalkParts, pacer: Pacer): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([parts.signal, over.signal]);
  const both = [
    hearReply({ ...parts, signal }),
    // It ends only by an abort or a failure.
    send({ ...parts, signal }, silence(Number.POSITIVE_INFINITY), pacer),
  ];
  try {
    await Promise.race(both);
  } finally {
    over.abort();
    await Promise.allSettled(both);
  }
}

async function hearReply(parts: TalkParts): Promise<void> {
  const { options, ledger, pausedUntil, voicedAt, signal } = parts;
  const { clock, waitMs, settleMs } = options;
  const { metrics } = ledger;
  const times = { clock, metrics, waitMs, settleMs, pausedUntil, voicedAt };
  const outcome = await waitForReplyEnd({ ...times, signal });
  if (outcome === 'background') parts.onBackground();
  if (outcome === 'none' && waitMs > 0) ledger.warn('no-reply', `No reply started within ${waitMs / 1000} s`);
}

function startPacer({ options: { frameMs, clock }, ledger }: TalkParts, pace: Pace): Pacer {
  return createPacer({
    pace,
    frameMs,
    clock,
    onFrame: (lateMs) => ledger.metrics.sentLate(lateMs),
    onReanchor: (skippedMs) =>
      ledger.warn('late', `Sending was ${Math.round(skippedMs)} ms late and continues from now`),
  });
}

async function send(parts: TalkParts, chunks: AsyncIterable<Buffer>, pacer: Pacer): Promise<void> {
  for await (const frame of reframe(chunks, bytesForMs(parts.options.frameMs))) {
    await pacer.next(parts.signal);
    await sendMessage(parts, frame);
  }
}

async function sendMessage({ options, stream, signal }: TalkParts, pcm: Buffer): Promise<void> {
  await abortable(stream.drained(options.maxBufferedBytes), signal);
  stream.sendAudio(pcm);
}

async function* readSource(
  { source, loop, frameMs, enough = never }: SessionOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const either = AbortSignal.any([signal, enough]);
  try {
    do {
      for await (const chunk of source.read(either)) {
        for (let at = 0; at < chunk.length; at += bytesForMs(frameMs)) {
          if (enough.aborted) return;
          yield chunk.subarray(at, at + bytesForMs(frameMs));
        }
      }
    } while (loop && source.repeatable && !enough.aborted);
  } catch (thrown) {
    if (!enough.aborted || signal.aborted) throw thrown;
  }
}

const never = new AbortController().signal;

const silenceChunkMs = 100;

async function* silence(ms: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(bytesForMs(silenceChunkMs));
  for (let left = ms; left > 0; left -= silenceChunkMs) {
    yield left >= silenceChunkMs ? chunk : chunk.subarray(0, bytesForMs(left));
  }
}

interface ReplyEndOptions
  extends Pick<SessionOptions, 'clock' | 'waitMs' | 'settleMs'>,
    Pick<TalkParts, 'pausedUntil' | 'voicedAt' | 'signal'> {
  metrics: Metrics;
}

/** How often to check whether a reply can be heard. */
const lookEveryMs = 20;

/**
 * Waits after the sent audio until the reply has ended, or nothing audible has come in time. `background`: it has ended, but
 * audible audio goes on.
 */
export async function waitForReplyEnd(options: ReplyEndOptions): Promise<'ended' | 'background' | 'none'> {
  const { clock, metrics, waitMs, settleMs, pausedUntil, voicedAt, signal } = options;
  const since = clock.now();
  for (;;) {
    const now = clock.now();
    const reply = {
      awaitedFrom: since,
      begunAt: metrics.replyBegunAt,
      heardAt: metrics.lastAudibleAt,
      voicedAt: voicedAt(),
      pausedUntil: pausedUntil(),
    };
    const overAt = replyOverAt(reply, { waitMs, settleMs });
    const isHeard = isReplyHeard(reply);
    if (now >= overAt) {
      if (isBackgroundHeard(reply, { waitMs })) return 'background';
      return isHeard ? 'ended' : 'none';
    }
    await waitUntil(clock, isHeard ? overAt : Math.min(now + lookEveryMs, overAt), signal);
  }
}

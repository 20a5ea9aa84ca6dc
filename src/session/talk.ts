import { createPacer, type Pace } from '../audio/pacer.ts';
import { reframe } from '../audio/reframe.ts';
import type { AudioSource } from '../audio/source.ts';
import type { VoiceStream } from '../client/voice-stream.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { abortable } from './abortable.ts';
import type { Ledger } from './ledger.ts';
import type { SessionOptions } from './options.ts';
import { waitForReplyEnd } from './reply-end.ts';

export interface TalkParts {
  options: SessionOptions;
  ledger: Ledger;
  stream: VoiceStream;
  signal: AbortSignal;
}

/** Sends the source, then silence, until the reply has been heard to its end. Rejects with the signal's reason. */
export async function talk(parts: TalkParts): Promise<void> {
  const { options, ledger, signal } = parts;
  ledger.emit({ type: 'state', state: 'live' });
  await send(parts, readSource(options.source, options.loop, signal), options.pace);
  ledger.emit({ type: 'state', state: 'draining' });
  await (options.tailMs === undefined ? tailUntilReplyEnds(parts) : tailThenReply(parts, options.tailMs));
}

/** The silence after the source is no use before its time: it leaves at real-time pace also where the source did not. */
function tailPace({ pace }: SessionOptions): Pace {
  return pace === 'max' ? 1 : pace;
}

async function tailThenReply(parts: TalkParts, tailMs: number): Promise<void> {
  await send(parts, silence(tailMs), tailPace(parts.options));
  // The gate hears no more silence: speech that it holds open has ended.
  parts.ledger.metrics.finishSending();
  await hearReply(parts);
}

async function tailUntilReplyEnds(parts: TalkParts): Promise<void> {
  const heard = new AbortController();
  const signal = AbortSignal.any([parts.signal, heard.signal]);
  const tail = send({ ...parts, signal }, silence(Number.POSITIVE_INFINITY), tailPace(parts.options));
  try {
    // The tail ends by itself only by failing.
    await Promise.race([hearReply(parts), tail]);
  } finally {
    heard.abort();
    await tail.catch(() => {});
  }
}

async function hearReply({ options: { clock, waitMs, settleMs }, ledger, signal }: TalkParts): Promise<void> {
  const outcome = await waitForReplyEnd({ clock, metrics: ledger.metrics, waitMs, settleMs, signal });
  if (outcome === 'none' && waitMs > 0) ledger.warn('no-reply', `No reply began within ${waitMs / 1000} s`);
}

async function send(
  { options, ledger, stream, signal }: TalkParts,
  chunks: AsyncIterable<Buffer>,
  pace: Pace,
): Promise<void> {
  const { clock, frameMs, maxBufferedBytes } = options;
  const pacer = createPacer({
    pace,
    frameMs,
    clock,
    signal,
    onFrame: (lateMs) => ledger.metrics.sentLate(lateMs),
    onReanchor: (skippedMs) =>
      ledger.warn('late', `Sending was ${Math.round(skippedMs)} ms late and goes on from now`),
  });
  for await (const frame of reframe(chunks, bytesForMs(frameMs))) {
    await pacer.next();
    await abortable(stream.drained(maxBufferedBytes), signal);
    stream.sendAudio(frame);
    ledger.sent(frame);
  }
}

async function* readSource(source: AudioSource, loop: boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
  do yield* source.read(signal);
  while (loop && source.repeatable);
}

const silenceChunkMs = 100;

async function* silence(ms: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(bytesForMs(silenceChunkMs));
  for (let left = ms; left > 0; left -= silenceChunkMs) {
    yield left >= silenceChunkMs ? chunk : chunk.subarray(0, bytesForMs(left));
  }
}

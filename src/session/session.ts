import { measureLevel } from '../audio/level.ts';
import { createPacer, type Pace } from '../audio/pacer.ts';
import { reframe } from '../audio/reframe.ts';
import type { AudioSource } from '../audio/source.ts';
import type { TokenGrant, TokenOptions } from '../client/token.ts';
import type { VoiceStream, VoiceStreamOptions } from '../client/voice-stream.ts';
import type { Clock } from '../clock.ts';
import { toVoicectlError, VoicectlError } from '../errors.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import { closeCodeName } from '../protocol/close-codes.ts';
import { createEventQueue } from './event-queue.ts';
import type { AudioDirection, SessionEvent, SessionEventBody } from './events.ts';
import { type Expectations, judge } from './expectations.ts';
import { createMetrics, roundMs } from './metrics.ts';
import { type AudioSink, createOutput } from './output.ts';
import { waitForReplyEnd } from './reply-end.ts';
import type { SessionSummary } from './summary.ts';
import { readToken } from './token-claims.ts';

/** The half of the session that talks to the service. */
export interface SessionClient {
  requestToken(options: TokenOptions): Promise<TokenGrant>;
  openVoiceStream(options: VoiceStreamOptions): Promise<VoiceStream>;
}

export interface SessionOptions {
  client: SessionClient;
  clock: Clock;
  version: string;
  baseUrl: string;
  wsUrl: string;
  device: string;
  /** How to come by a token: ask for it with a key, or use the one given. */
  auth: Pick<TokenOptions, 'apiKey' | 'apiVersion' | 'retries'> | { token: string };
  source: AudioSource;
  /** What the source is, for people: a path, or "microphone". */
  sourceName: string;
  sinks: readonly AudioSink[];
  pace: Pace;
  frameMs: number;
  /** Silence after the last frame; undefined: until the reply has ended. */
  tailMs: number | undefined;
  waitMs: number;
  settleMs: number;
  loop: boolean;
  /** Stop after this much time of streaming. */
  durationMs: number | undefined;
  /** What may wait in the socket before the source is paused. */
  maxBufferedBytes: number;
  expectations: Expectations;
}

/**
 * One conversation: token, connection, the source streamed at its pace, the reply heard to its end.
 * Yields what happens as it happens; `summary` is always the last event, also of a session that
 * failed. Then throws the `VoicectlError` that it failed with, `expectation-failed` included.
 */
export async function* runSession(
  options: SessionOptions,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  const { clock } = options;
  const queue = createEventQueue();
  const startedAt = clock.now();
  const emit = (body: SessionEventBody) => queue.push({ t: roundMs(clock.now() - startedAt), ...body });
  const abandoned = new AbortController();
  const running = converse(options, AbortSignal.any([signal, abandoned.signal]), emit).finally(() =>
    queue.end(),
  );
  running.catch(() => {});
  try {
    yield* queue.read();
  } finally {
    abandoned.abort(new VoicectlError('interrupted', 'The session was abandoned'));
    await running.catch(() => {});
  }
  await running;
}

type Emit = (body: SessionEventBody) => void;

async function converse(options: SessionOptions, signal: AbortSignal, emit: Emit): Promise<void> {
  const { clock, source, settleMs, sinks, expectations } = options;
  const startedAt = clock.now();
  const metrics = createMetrics({ settleMs });
  const facts: Pick<SessionSummary, 'tokenMs' | 'connectMs' | 'authoriseMs' | 'rateLimit' | 'close'> = {
    tokenMs: null,
    connectMs: null,
    authoriseMs: null,
    rateLimit: null,
    close: null,
  };
  const events: Record<string, number> = {};
  // Ends whatever is under way when the stream breaks, a sink fails, or the caller gives up.
  const halt = new AbortController();
  const until = AbortSignal.any([signal, halt.signal]);
  let stream: VoiceStream | undefined;
  const output = createOutput(sinks, {
    onFull: () => stream?.pause(),
    onDrained: () => stream?.resume(),
    onFailure: (failure) => halt.abort(failure),
  });

  const audioEvent = (direction: AudioDirection, pcm: Buffer) => {
    const level = measureLevel(pcm);
    const { rmsDbfs, peakDbfs } = level;
    emit({
      type: 'audio',
      direction,
      frames: 1,
      bytes: pcm.length,
      audioMs: msForBytes(pcm.length),
      rmsDbfs: roundMs(rmsDbfs),
      peakDbfs: roundMs(peakDbfs),
    });
    return level;
  };

  emit({
    type: 'session',
    version: options.version,
    device: options.device,
    baseUrl: options.baseUrl,
    wsUrl: options.wsUrl,
    source: options.sourceName,
    format: source.description.text,
    ...(source.durationMs === undefined ? {} : { durationMs: Math.round(source.durationMs) }),
  });
  if (source.description.converted) {
    emit({
      type: 'warning',
      code: 'converted',
      message: `${options.sourceName} is ${source.description.text}; converted to 16,000 Hz, 16-bit, mono`,
    });
  }

  let failure: VoicectlError | undefined;
  try {
    const token = await obtainToken();
    stream = await connect(token);
    await talk(stream);
  } catch (thrown) {
    failure = toVoicectlError(until.aborted ? until.reason : thrown);
  }
  const closing = await stream?.close();
  if (closing !== undefined) {
    facts.close = { ...closing, name: closeCodeName(closing.code) };
    emit({ type: 'close', ...facts.close });
  }
  failure = (await output.close()) ?? failure;
  emit({ type: 'state', state: 'closed' });

  const measured = metrics.snapshot();
  const verdicts = judge(expectations, { ...measured, events, closeCode: facts.close?.code ?? null });
  const failed = verdicts.filter(({ ok }) => !ok);
  const closeWasExpected =
    expectations.closeCode !== undefined && expectations.closeCode === facts.close?.code;
  if (closeWasExpected && isBrokenStream(failure)) failure = undefined;
  if (failed.length > 0 && (failure === undefined || failure.exitCode === 6)) {
    const names = failed.map(
      ({ name, expected, measured }) => `${name} (expected ${expected}, measured ${measured})`,
    );
    failure = new VoicectlError('expectation-failed', `Failed: ${names.join('; ')}`, { cause: failure });
  }
  emit({
    type: 'summary',
    device: options.device,
    ok: failure === undefined,
    elapsedMs: roundMs(clock.now() - startedAt),
    ...facts,
    ...measured,
    underruns: null,
    events,
    verdicts,
  });
  if (failure !== undefined) throw failure;

  async function obtainToken(): Promise<string> {
    emit({ type: 'state', state: 'token' });
    const { auth, baseUrl, device, client } = options;
    if ('token' in auth) {
      emit({ type: 'token', claims: readToken(auth.token)?.claims });
      return auth.token;
    }
    const grant = await client.requestToken({
      ...auth,
      baseUrl,
      deviceId: device,
      clock,
      signal: until,
      onRetry: ({ attempt, delayMs, error }) =>
        emit({ type: 'retry', attempt, delayMs, code: error.code, message: error.message }),
    });
    facts.tokenMs = roundMs(grant.timing.totalMs);
    facts.rateLimit = grant.rateLimit;
    emit({
      type: 'token',
      claims: readToken(grant.token)?.claims,
      rateLimit: grant.rateLimit,
      status: grant.status,
      ms: facts.tokenMs,
      attempts: grant.timing.attempts,
    });
    return grant.token;
  }

  async function connect(token: string): Promise<VoiceStream> {
    emit({ type: 'state', state: 'connecting' });
    const connectingAt = clock.now();
    const opened = await options.client.openVoiceStream({
      wsUrl: options.wsUrl,
      clock,
      signal: until,
      onMessage({ category, kind, body }) {
        const name = kind ?? '(none)';
        events[name] = (events[name] ?? 0) + 1;
        emit({ type: 'message', category, kind, body });
      },
      onAudio(pcm) {
        const now = clock.now();
        metrics.received(pcm, audioEvent('in', pcm), now);
        output.write(pcm);
      },
    });
    stream = opened;
    facts.connectMs = roundMs(clock.now() - connectingAt);
    emit({ type: 'state', state: 'authorising' });
    const presentedAt = clock.now();
    await abortable(opened.present(token), until);
    facts.authoriseMs = roundMs(clock.now() - presentedAt);
    return opened;
  }

  /** Sends the source and its tail, then hears the reply out. Ends early when the service closes. */
  async function talk(live: VoiceStream): Promise<void> {
    emit({ type: 'state', state: 'live' });
    live.closed.then((close) => halt.abort(live.breakage(close) ?? endedByService));
    const duration =
      options.durationMs === undefined
        ? undefined
        : clock.after(options.durationMs, () => halt.abort(durationReached));
    try {
      await send(live, readSource(source, options.loop, until), options.pace, until);
      emit({ type: 'state', state: 'draining' });
      await drain(live);
    } catch (thrown) {
      if (halt.signal.reason === endedByService) {
        emit({ type: 'warning', code: 'closed-early', message: 'The service closed the stream' });
      } else if (halt.signal.reason !== durationReached || signal.aborted) {
        throw thrown;
      }
    } finally {
      duration?.cancel();
    }
  }

  async function drain(live: VoiceStream): Promise<void> {
    const tailPace = options.pace === 'max' ? 1 : options.pace;
    const heard = new AbortController();
    const tail = send(live, silence(options.tailMs), tailPace, AbortSignal.any([until, heard.signal])).catch(
      (thrown) => {
        if (!heard.signal.aborted || until.aborted) throw thrown;
      },
    );
    // A bounded tail is sent whole; then, and not before, speech that the gate holds open has ended.
    if (options.tailMs !== undefined) {
      await tail;
      metrics.finishSending();
    }
    const { waitMs } = options;
    const outcome = waitForReplyEnd({ clock, metrics, waitMs, settleMs, signal: until });
    try {
      if ((await Promise.race([outcome, tail.then(() => outcome)])) === 'none' && waitMs > 0) {
        emit({ type: 'warning', code: 'no-reply', message: `No reply began within ${waitMs / 1000} s` });
      }
    } finally {
      heard.abort();
      await tail;
    }
  }

  async function send(
    live: VoiceStream,
    chunks: AsyncIterable<Buffer>,
    pace: Pace,
    sendSignal: AbortSignal,
  ): Promise<void> {
    const pacer = createPacer({
      pace,
      frameMs: options.frameMs,
      clock,
      signal: sendSignal,
      onFrame: (lateMs) => metrics.sentLate(lateMs),
      onReanchor: (skippedMs) =>
        emit({
          type: 'warning',
          code: 'late',
          message: `Sending was ${Math.round(skippedMs)} ms late and goes on from now`,
        }),
    });
    for await (const frame of reframe(chunks, bytesForMs(options.frameMs))) {
      await pacer.next();
      await abortable(live.drained(options.maxBufferedBytes), sendSignal);
      live.sendAudio(frame);
      for (const { type, atMs } of metrics.sent(frame, clock.now())) {
        emit({ type: 'speech', state: type === 'speech-start' ? 'start' : 'end', audioMs: atMs });
      }
      audioEvent('out', frame);
    }
  }
}

/** The service closed normally, before we did. */
const endedByService = new VoicectlError('stream-broken', 'The service closed the stream');
/** `durationMs` is over. */
const durationReached = new VoicectlError('interrupted', 'The duration is over');

function isBrokenStream(failure: VoicectlError | undefined): boolean {
  return failure?.exitCode === 6 || failure?.exitCode === 3;
}

async function* readSource(source: AudioSource, loop: boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
  do yield* source.read(signal);
  while (loop && source.repeatable);
}

const silenceChunkMs = 100;

/** Silence of this length, or without end. */
async function* silence(ms: number | undefined): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(bytesForMs(silenceChunkMs));
  for (let left = ms ?? Number.POSITIVE_INFINITY; left > 0; left -= silenceChunkMs) {
    yield left >= silenceChunkMs ? chunk : chunk.subarray(0, bytesForMs(left));
  }
}

/** The promise, or the signal's reason where that comes first. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

import type { Pace } from '../audio/pacer.ts';
import { createVoiceWatch } from '../audio/turn-taking.ts';
import type { LostTime } from '../audio/verdict/pace-check.ts';
import { type ErrorCode, toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import { watchOwnPauses } from '../kernel/lateness.ts';
import { createDeferred } from '../kernel/promises.ts';
import { createRedactor } from '../kernel/redact.ts';
import { isInterruption } from '../protocol/messages.ts';
import { roundMs } from '../protocol/time-text.ts';
import { type JoinOptions, joinService } from '../wire/client/join-service.ts';
import type { VoiceStream } from '../wire/client/voice-stream.ts';
import { joinTaps } from '../wire/tap.ts';
import { tokenFacts } from '../wire/token-facts.ts';
import { createConversation } from './conversation/conversation.ts';
import type { AudioDirection, SessionEvent } from './events.ts';
import { type Expectations, type ExpectationVerdict, judge } from './expectations.ts';
import { type AudioEvent, sumAudio } from './fold-audio.ts';
import { createLedger, type EmitEvent, type Ledger } from './ledger.ts';
import { type SessionOptions, shownDevice } from './options.ts';
import { type Backpressure, createBackpressure, createOutput, type QueueHandlers } from './output.ts';
import { createSessionTap } from './session-tap.ts';
import { type TalkParts, talk } from './talk.ts';

/**
 * One session: gets a token, connects, streams the source at its pace, and hears the reply to its end. Yields each event as
 * it happens. The last one is always `summary`, even if the session failed; then it throws the `VoicectlError` of the
 * failure, including `expectation-failed`.
 */
export async function* runSession(
  options: SessionOptions,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent> {
  const { clock } = options;
  const backpressure = createBackpressure(clock);
  const queue = createEventQueue(backpressure.queue());
  const startedAt = clock.now();
  options.tap?.began?.(startedAt);
  const emit: EmitEvent = (body, at = clock.now()) => queue.push({ t: roundMs(at - startedAt), ...body });
  const abandoned = new AbortController();
  const running = converse(options, {
    startedAt,
    signal: AbortSignal.any([signal, abandoned.signal]),
    backpressure,
    emit,
  }).finally(queue.end);
  running.catch(() => {});
  try {
    yield* queue.read();
  } finally {
    abandoned.abort(new VoicectlError('interrupted', 'The session was abandoned'));
    await running.catch(() => {});
  }
  await running;
}

const backgroundText = 'The AI’s audio goes on without speech above its background: the reply counts as over';

interface SessionContext {
  startedAt: number;
  signal: AbortSignal;
  backpressure: Backpressure;
  emit: EmitEvent;
}

async function converse(
  given: SessionOptions,
  { startedAt, signal, backpressure, emit }: SessionContext,
): Promise<void> {
  const pauses = watchOwnPauses(given.clock);
  const pausedUntil = () => Math.max(backpressure.pausedUntil, pauses.lastUntil);
  const own: LostTime = {
    get lostMs() {
      return pauses.totalMs + backpressure.pausedMs;
    },
  };
  const voice = createVoiceWatch(given.clock);
  const voicedAt = () => voice.voicedAt;
  let isBackgroundTold = false;
  const onBackground = () => {
    if (!isBackgroundTold) ledger.warn('background', backgroundText);
    isBackgroundTold = true;
  };
  const conversation =
    given.conversation &&
    createConversation(given.conversation, {
      ...given,
      startedAt,
      pausedUntil,
      voicedAt,
      onBackground,
      pausedMs: pauses.longestMs,
      own,
      onClip: (clip) => ledger.clip(clip),
    });
  const options = conversation === undefined ? given : { ...given, source: conversation.source };
  const emitAndHold: EmitEvent = (body, at) => {
    emit(body, at);
    if (options.bargeIn && body.type === 'speech' && body.state === 'start') output.hold();
  };
  const redactor = createRedactor();
  const ledger = createLedger(
    { ...options, device: shownDevice(options), startedAt, pace: paceOf(options) },
    {
      emit: emitAndHold,
      playback: () => output.playback,
      conversation,
      judgesVoice: true,
      pausedMs: pauses.longestMs,
      own,
      redact: (text) => redactor.text(text),
    },
  );
  // Aborts everything in progress when the stream breaks or a sink fails.
  const halt = new AbortController();
  const until = AbortSignal.any([signal, halt.signal]);
  let stream: VoiceStream | undefined;
  const output = createOutput(options.sinks, {
    ...backpressure.queue(),
    onFailure: (failure) => halt.abort(failure),
  });
  announce(options, ledger);
  options.notices?.listen((notice) => ledger.emit({ type: 'warning', ...notice }));
  let failure: VoicectlError | undefined;
  try {
    stream = await join(options, {
      ...{ ledger, redactor, signal: until },
      onOpen: backpressure.attach,
      onMessage(message) {
        if (isInterruption(message)) output.flush();
      },
      onAudio(pcm) {
        voice.received(pcm);
        output.write(pcm);
      },
    });
    const watches = { pausedUntil, voicedAt, onBackground };
    await talkUntilEnd({ options, ledger, stream, ...watches, signal: until }, halt);
  } catch (thrown) {
    failure = toVoicectlError(redactor.thrown(until.aborted ? until.reason : thrown));
  }
  await stream?.close(signal);
  failure = (await output.close(signal, failure)) ?? failure;
  ledger.emit({ type: 'state', state: 'closed' });

  if (failure === undefined && conversation !== undefined) {
    await conversation.letJudge(signal);
    // If a command was stopped before it could judge, that says nothing about the service.
    if (signal.aborted) failure = toVoicectlError(signal.reason);
  }
  const verdicts = [
    ...(conversation?.verdicts(ledger.dialogue()) ?? []),
    ...judge(options.expectations, ledger.observed()),
  ];
  pauses.stop();
  failure = conclude(failure, verdicts, options.expectations);
  ledger.emit({ type: 'summary', ...ledger.summary(failure, verdicts, output.playback.underruns) });
  if (failure !== undefined) throw failure;
}

/** A live source sets its own pace: real time. */
function paceOf({ source, pace }: SessionOptions): Pace {
  return source.isLive ? 1 : pace;
}

function announce(options: SessionOptions, ledger: Ledger): void {
  const { version, baseUrl, wsUrl, source, sourceName } = options;
  const device = shownDevice(options);
  const pace = paceOf(options);
  const { text: format, converted } = source.description;
  const durationMs = source.durationMs === undefined ? {} : { durationMs: Math.round(source.durationMs) };
  ledger.emit({
    type: 'session',
    version,
    device,
    baseUrl,
    wsUrl,
    source: sourceName,
    format,
    ...durationMs,
    ...(pace === 1 ? {} : { pace }),
  });
  if (converted) ledger.warn('converted', `${sourceName} is ${format}; converted to 16,000 Hz, 16-bit, mono`);
}

type JoinParts = Pick<JoinOptions, 'signal' | 'redactor' | 'onAudio' | 'onMessage' | 'onOpen'> & {
  ledger: Ledger;
};

/** Connects, and records the traffic in the ledger. */
function join(options: SessionOptions, { ledger, ...parts }: JoinParts): Promise<VoiceStream> {
  const { auth } = options;
  return joinService({
    ...options,
    ...parts,
    tap: joinTaps(createSessionTap(ledger), options.tap),
    onRetry: ({ attempt, delayMs, error: { code, message } }) =>
      ledger.emit({ type: 'retry', attempt, delayMs, code, message }),
    onStep(step) {
      ledger.emit({ type: 'state', state: step });
      if (step === 'token' && 'token' in auth) ledger.given(tokenFacts(auth.token, parts.redactor).claims);
    },
  });
}

/** Reasons to stop talking that are not failures. */
const closedByService = new VoicectlError('interrupted', 'The service closed the stream');
const durationReached = new VoicectlError('interrupted', 'The duration has elapsed');

async function talkUntilEnd(parts: TalkParts, halt: AbortController): Promise<void> {
  const { options, ledger, stream, signal } = parts;
  const { clock, durationMs } = options;
  void stream.closed.then((close) => halt.abort(stream.breakage(close) ?? closedByService));
  const duration =
    durationMs === undefined ? undefined : clock.after(durationMs, () => halt.abort(durationReached));
  try {
    await talk(parts);
  } catch (thrown) {
    if (signal.reason === closedByService) ledger.warn('closed-early', 'The service closed the stream');
    else if (signal.reason !== durationReached) throw thrown;
  } finally {
    duration?.cancel();
  }
}

/** Failures that are closes by the service, or because of it: with `--expect-close` they may be expected. */
const closes: readonly ErrorCode[] = [
  'stream-refused',
  'too-many-connections',
  'stream-broken',
  'protocol-violation',
  'service-error',
];

/** The failure of the session, after its expectations were judged. */
function conclude(
  failure: VoicectlError | undefined,
  verdicts: readonly ExpectationVerdict[],
  { closeCode }: Expectations,
): VoicectlError | undefined {
  const isJudged = failure === undefined || (closeCode !== undefined && closes.includes(failure.code));
  if (!isJudged) return failure;
  const failed = verdicts.filter(({ ok }) => !ok);
  const [first] = failed;
  if (first === undefined) return undefined;
  const texts = failed.map(
    ({ name, expected, measured }) => `${name}: expected ${expected}, measured ${measured}`,
  );
  return new VoicectlError('expectation-failed', `Not as expected: ${texts.join('; ')}`, {
    cause: failure,
    details: { kind: first.kind },
  });
}

/**
 * Most events that wait for a slow view. Beyond it audio is folded into the newest waiting event, and the source of other
 * events is asked to pause.
 */
const maxWaiting = 4_096;
/** Maximum characters in waiting messages, with the same effect. */
const maxWaitingLength = 4 * 1024 * 1024;

/** Carries events from callbacks to the one loop that reads them. */
interface EventQueue {
  push(event: SessionEvent): void;
  /** Ends the loop, after all waiting events. */
  end(): void;
  read(): AsyncGenerator<SessionEvent>;
}

export function createEventQueue({ onFull, onDrained }: QueueHandlers): EventQueue {
  let waiting: SessionEvent[] = [];
  /** Index in `waiting` of the newest audio event of each direction. */
  const newest = new Map<AudioDirection, number>();
  let ended = false;
  /** Characters in waiting messages. */
  let length = 0;
  const isFull = () => waiting.length > maxWaiting || length > maxWaitingLength;
  let news = createDeferred();
  const drain = () => {
    const batch = waiting;
    const wasFull = isFull();
    waiting = [];
    length = 0;
    newest.clear();
    if (wasFull) onDrained();
    return batch;
  };
  const pushAudio = (event: AudioEvent) => {
    const index = newest.get(event.direction);
    if (waiting.length < maxWaiting || index === undefined) {
      newest.set(event.direction, waiting.length);
      waiting.push(event);
      return;
    }
    const before = waiting[index] as AudioEvent;
    // It keeps its place and its time.
    waiting[index] = { ...before, ...sumAudio(before, event) };
  };
  return {
    push(event) {
      if (event.type === 'audio') pushAudio(event);
      else waiting.push(event);
      if (event.type === 'message') length += lengthOf(event.body);
      if (isFull()) onFull();
      news.resolve();
    },
    end() {
      ended = true;
      news.resolve();
    },
    async *read() {
      for (;;) {
        yield* drain();
        if (waiting.length > 0) continue;
        if (ended) return;
        news = createDeferred();
        await news.promise;
      }
    },
  };
}

/** The number of characters in all texts of a value that was parsed from JSON. */
function lengthOf(value: unknown): number {
  const left = [value];
  let length = 0;
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (typeof one === 'string') length += one.length;
    else if (Array.isArray(one)) for (const item of one) left.push(item);
    else if (typeof one === 'object' && one !== null)
      for (const [name, inner] of Object.entries(one)) left.push(name, inner);
  }
  return length;
}

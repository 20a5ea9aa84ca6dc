import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import { createLevelMeter, roundDbfs } from '../audio/level.ts';
import type { Pace } from '../audio/pacer.ts';
import type { SpeechMoment } from '../audio/sent-speech.ts';
import type { LostTime } from '../audio/verdict/pace-check.ts';
import type { VoicectlError } from '../kernel/errors.ts';
import { describeFailure } from '../kernel/failure-kind.ts';
import { shortText } from '../kernel/short-text.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { closeCodeName, closeCodes, closeText } from '../protocol/close-codes.ts';
import { isInterruption, isOfKind, type ServiceMessage } from '../protocol/messages.ts';
import type { ReadRateLimit } from '../protocol/rate-limit.ts';
import { roundMs } from '../protocol/time-text.ts';
import { readTranscript } from '../protocol/transcript.ts';
import { ServiceErrors } from '../wire/client/refusal-error.ts';
import { concealTokens } from '../wire/conceal.ts';
import type { StreamEnd } from '../wire/exchange.ts';
import type { ClipMoment, Conversation } from './conversation/conversation.ts';
import type { AudioDirection, SessionEventBody } from './events.ts';
import type { ExpectationVerdict, Observed } from './expectations.ts';
import { createJudgedAudio } from './judged-audio.ts';
import { createMetrics, type Metrics, type PlaybackFigures } from './metrics.ts';
import type { SessionOptions } from './options.ts';
import type { SessionSummary } from './summary.ts';
import { createTranscript } from './transcript.ts';

/** Maximum number of kinds of messages that are counted separately: a service may send an id instead of a kind. */
const maxKinds = 1_000;
const otherKinds = '(others)';
const figuresEveryMs = 1_000;

/** A token that was granted `at` this time of the clock; `ms` is the time for all attempts. */
export interface GrantNote {
  at: number;
  claims: Record<string, unknown> | undefined;
  rateLimit: ReadRateLimit;
  status: number;
  ms: number;
  attempts: number;
}

/** Records everything that happens: emits it as an event, and counts it for the summary. */
export interface Ledger {
  readonly metrics: Metrics;
  emit: EmitEvent;
  warn(code: string, message: string): void;
  granted(grant: GrantNote): void;
  /** The token was provided, not requested; its claims, if it is a JWT. */
  given(claims: Record<string, unknown> | undefined): void;
  took(step: 'connectMs' | 'authoriseMs', ms: number): void;
  /** `at`, here and below: when the message passed, on the clock. */
  message(message: ServiceMessage, at: number): void;
  sent(frame: Buffer, at: number): void;
  /** The source and its speech have ended. */
  sourceEnded(): void;
  received(pcm: Buffer, at: number): void;
  /** A clip of a conversation begins or ends: the audio sent from now on does, or does not, belong to it. */
  clip(clip: ClipMoment): void;
  closed(end: Omit<StreamEnd, 'breakdown'>): void;
  /** The failure of a stream that the service ended, like a client would report it; undefined if it ended well. */
  failure(phase: 'authorising' | 'live'): VoicectlError | undefined;
  /** Who spoke when, so far; undefined if that is not judged here. */
  dialogue(): Dialogue | undefined;
  observed(): Observed;
  summary(
    failure: VoicectlError | undefined,
    verdicts: ExpectationVerdict[],
    underruns: number | null,
  ): SessionSummary;
}

/** Emits an event that happened `at` this time of the clock. Default: now. */
export type EmitEvent = (body: SessionEventBody, at?: number) => void;

export interface LedgerOptions
  extends Pick<SessionOptions, 'clock' | 'settleMs' | 'waitMs' | 'device' | 'expectations'> {
  /** When the session began, on the clock. Default: now. */
  startedAt?: number;
  /** The pace of the sent audio. Default: real time. */
  pace?: Pace;
}

export interface LedgerPorts {
  emit: EmitEvent;
  playback: () => PlaybackFigures;
  conversation: Conversation | undefined;
  /** Whether the AI's voice is judged here: an emulator and a proxy judge it themselves. */
  judgesVoice?: boolean;
  /** How long this process did not run between two times, at the longest. Default: it always ran. */
  pausedMs?: (from: number, until: number) => number;
  /** Time in which the service was not read. Default: it always was. */
  own?: LostTime;
  /** Removes secrets from a text. */
  redact?: ((text: string) => string) | undefined;
}

export function createLedger(
  { clock, settleMs, waitMs, device, expectations, pace, startedAt = clock.now() }: LedgerOptions,
  { emit: emitTo, playback, conversation, judgesVoice = false, pausedMs = () => 0, own, redact }: LedgerPorts,
): Ledger {
  let latest = startedAt;
  // In the order of their times, even if something is reported late.
  const emit: EmitEvent = (body, at = clock.now()) => {
    latest = Math.max(latest, at);
    emitTo(body, latest);
  };
  const timeOf = (at: number) => roundMs(at - startedAt);
  const judged = judgesVoice
    ? createJudgedAudio({ startedAt, waitMs, pace, pausedMs, own, warn: emit })
    : undefined;
  const metrics = createMetrics({
    settleMs,
    pausedMs,
    onGap: (ms, at) => emit({ type: 'gap', ms, atMs: timeOf(at) }),
  });
  const counts = createMessageCounts(expectations);
  const transcript = createTranscript({ ...(redact && { clean: (text) => concealTokens(redact(text)) }) });
  const facts: Pick<SessionSummary, 'tokenMs' | 'connectMs' | 'authoriseMs' | 'rateLimit' | 'close'> = {
    tokenMs: null,
    connectMs: null,
    authoriseMs: null,
    rateLimit: null,
    close: null,
  };
  let end: Omit<StreamEnd, 'breakdown'> | undefined;
  const errors = new ServiceErrors();
  const emitAudio = createAudioEvents(emit);
  let figuresAt = startedAt;
  const emitFigures = (at: number) => {
    if (at - figuresAt < figuresEveryMs) return;
    figuresAt = at;
    emit({ type: 'figures', ...metrics.figures(), ...playback() }, at);
  };
  const emitSpeech = (found: SpeechMoment[], at: number) => {
    for (const { type, atMs, leftAt } of found) {
      const bargeIn = type === 'speech-start' && metrics.wasHeardAt(leftAt) ? { bargeIn: true as const } : {};
      emit({ type: 'speech', state: type === 'speech-end' ? 'end' : 'start', audioMs: atMs, ...bargeIn }, at);
    }
  };

  return {
    metrics,
    emit,
    dialogue: () => judged?.dialogue(),
    warn: (code, message) => emit({ type: 'warning', code, message }),
    granted({ claims, rateLimit, status, ms, attempts, at }) {
      facts.tokenMs = roundMs(ms);
      facts.rateLimit = rateLimit;
      emit({ type: 'token', claims, rateLimit, status, ms: facts.tokenMs, attempts }, at);
    },
    given: (claims) => emit({ type: 'token', claims }),
    took(step, ms) {
      facts[step] = roundMs(ms);
    },
    message(message, at) {
      const { category, kind, body } = message;
      errors.heard(message);
      if (isInterruption(message)) {
        metrics.interrupted(at);
        judged?.interrupted(at);
      }
      conversation?.message(message);
      counts.add(message);
      emit({ type: 'message', category, kind, body }, at);
      transcript.add(readTranscript(message), timeOf(at));
    },
    sent(frame, at) {
      emitSpeech(metrics.sent(frame, at), at);
      emitAudio('out', frame, at);
      judged?.sent(frame, at);
      emitFigures(at);
      conversation?.sent(frame);
    },
    sourceEnded() {
      judged?.sourceEnded();
      emitSpeech(metrics.finishSpeech(), clock.now());
    },
    received(pcm, at) {
      errors.heardAudio();
      const level = emitAudio('in', pcm, at);
      metrics.received(pcm.length, level, at);
      judged?.received(pcm, at);
      conversation?.received(pcm, level);
      emitFigures(at);
    },
    clip(clip) {
      const { turn, holdMs, state } = clip;
      const atMs = judged?.clip(clip, clock.now()) ?? timeOf(clock.now());
      emit({ type: 'turn', turn, state, atMs, ...(holdMs === undefined ? {} : { holdMs }) });
    },
    closed(ended) {
      const { at, by, code, reason, answer } = ended;
      end = ended;
      judged?.end(at);
      facts.close = { code, reason, name: closeCodeName(code) };
      emit({ type: 'close', ...facts.close, from: by }, at);
      if (answer !== undefined) {
        emit({ type: 'warning', code: 'close-answer', message: answerText(answer) }, at);
      }
    },
    failure: (phase) => (end?.by === 'service' ? errors.endError(end, phase) : undefined),
    observed: () => ({
      ...metrics.snapshot(),
      events: counts.ofExpected(),
      isConfirmed: facts.authoriseMs !== null,
      // The last that was sent by either side.
      closeCode: end?.answer?.code ?? end?.code ?? null,
      voice: judged?.voice() ?? { judgements: [], unjudged: 'not listened to' },
      pausedMs: metrics.pausedMs(),
      ...(judged === undefined ? {} : { dialogue: judged.measure(end?.by === 'service') }),
    }),
    summary: (failure, verdicts, underruns) => ({
      device,
      ok: failure === undefined,
      elapsedMs: roundMs(clock.now() - startedAt),
      ...facts,
      ...metrics.snapshot(),
      underruns,
      ...(judged === undefined ? {} : { voice: judged.voice(), dialogue: judged.dialogue() }),
      events: counts.all(),
      ...(transcript.lines.length === 0 ? {} : { transcript: [...transcript.lines] }),
      verdicts,
      failure: failure === undefined ? null : describeFailure(failure),
    }),
  };
}

/** Counts the messages of the service by kind. */
function createMessageCounts({ events = [], forbiddenEvents = [] }: SessionOptions['expectations']) {
  const counts = new Map<string, number>();
  /** Messages of the kinds that are expected or forbidden: an error counts as one, whatever its kind says. */
  const ofExpected = new Map<string, number>();
  const expectedKinds = new Set([...events, ...forbiddenEvents]);
  const addOne = (to: Map<string, number>, kind: string) => to.set(kind, (to.get(kind) ?? 0) + 1);
  return {
    add(message: ServiceMessage) {
      const named = message.kind ?? '(none)';
      const kind = expectedKinds.has(named) ? named : shortText(named);
      const isApart = counts.has(kind) || expectedKinds.has(kind) || counts.size < maxKinds;
      addOne(counts, isApart ? kind : otherKinds);
      for (const expected of expectedKinds) if (isOfKind(message, expected)) addOne(ofExpected, expected);
    },
    all: () => Object.fromEntries(counts),
    ofExpected: () => Object.fromEntries(ofExpected),
  };
}

/** Emits an event for each piece of audio, and returns its level. */
function createAudioEvents(emit: EmitEvent) {
  const meters = { out: createLevelMeter(), in: createLevelMeter() };
  return (direction: AudioDirection, pcm: Buffer, at: number) => {
    const level = meters[direction](pcm);
    const [bytes, audioMs] = [pcm.length, msForBytes(pcm.length)];
    const [rmsDbfs, peakDbfs] = [roundDbfs(level.rmsDbfs), roundDbfs(level.peakDbfs)];
    const clipped = level.clipped ? { clipped: true as const } : {};
    emit({ type: 'audio', direction, frames: 1, bytes, audioMs, rmsDbfs, peakDbfs, ...clipped }, at);
    return level;
  };
}

/** How the other side answered a close. */
function answerText(answer: NonNullable<StreamEnd['answer']>): string {
  if (answer.code === closeCodes.abnormal) return 'The other side did not answer the close';
  return `The other side answered the close with ${closeText(answer)}`;
}

import { measureLevel } from '../audio/level.ts';
import type { SpeechMoment } from '../audio/sent-speech.ts';
import type { VoicectlError } from '../kernel/errors.ts';
import { describeFailure } from '../kernel/failure-kind.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { closeCodeName } from '../protocol/close-codes.ts';
import { isInterruption, type ServiceMessage } from '../protocol/messages.ts';
import type { ReadRateLimit } from '../protocol/rate-limit.ts';
import { readTranscript } from '../protocol/transcript.ts';
import type { StreamClose } from '../wire/client/voice-stream.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { AudioDirection, SessionEventBody } from './events.ts';
import type { Observed, Verdict } from './expectations.ts';
import { createMetrics, type Metrics, type PlaybackFigures, roundMs } from './metrics.ts';
import type { SessionOptions } from './options.ts';
import type { SessionSummary } from './summary.ts';
import { createTranscript } from './transcript.ts';

/** Most kinds of messages that are counted separately: a service may put an id instead of the kind. */
const maxKinds = 1_000;
const otherKinds = '(others)';
const figuresEveryMs = 1_000;

/** A granted token; `ms` is the time of all attempts. */
export interface GrantNote {
  claims: Record<string, unknown> | undefined;
  rateLimit: ReadRateLimit;
  status: number;
  ms: number;
  attempts: number;
}

/** Records everything that happens: emits it as an event, and counts it for the summary. */
export interface Ledger {
  readonly metrics: Metrics;
  emit(body: SessionEventBody): void;
  warn(code: string, message: string): void;
  granted(grant: GrantNote): void;
  /** The token was given, not requested; its claims, if it is a JWT. */
  given(claims: Record<string, unknown> | undefined): void;
  took(step: 'connectMs' | 'authoriseMs', ms: number): void;
  message(message: ServiceMessage): void;
  sent(frame: Buffer): void;
  /** The source and its speech have ended. */
  sourceEnded(): void;
  received(pcm: Buffer): void;
  closed(close: StreamClose): void;
  observed(): Observed;
  summary(failure: VoicectlError | undefined, verdicts: Verdict[], underruns: number | null): SessionSummary;
}

export interface LedgerPorts {
  emit: (body: SessionEventBody) => void;
  playback: () => PlaybackFigures;
  conversation: Conversation | undefined;
}

export function createLedger(
  options: Pick<SessionOptions, 'clock' | 'settleMs' | 'device' | 'expectations'>,
  { emit, playback, conversation }: LedgerPorts,
): Ledger {
  const { clock, settleMs, device, expectations } = options;
  const startedAt = clock.now();
  const metrics = createMetrics({ settleMs, onGap: (ms) => emit({ type: 'gap', ms }) });
  // Without a prototype: a service may call a kind `constructor`.
  const events: Record<string, number> = Object.create(null);
  const transcript = createTranscript();
  const expectedKinds = new Set([...(expectations.events ?? []), ...(expectations.forbiddenEvents ?? [])]);
  const facts: Pick<SessionSummary, 'tokenMs' | 'connectMs' | 'authoriseMs' | 'rateLimit' | 'close'> = {
    tokenMs: null,
    connectMs: null,
    authoriseMs: null,
    rateLimit: null,
    close: null,
  };

  const tellAudio = (direction: AudioDirection, pcm: Buffer) => {
    const level = measureLevel(pcm);
    const [bytes, audioMs] = [pcm.length, msForBytes(pcm.length)];
    const [rmsDbfs, peakDbfs] = [roundMs(level.rmsDbfs), roundMs(level.peakDbfs)];
    const clipped = level.clipped ? { clipped: true as const } : {};
    emit({ type: 'audio', direction, frames: 1, bytes, audioMs, rmsDbfs, peakDbfs, ...clipped });
    return level;
  };
  let figuresToldAt = startedAt;
  const tellFigures = (now: number) => {
    if (now - figuresToldAt < figuresEveryMs) return;
    figuresToldAt = now;
    emit({ type: 'figures', ...metrics.figures(), ...playback() });
  };

  const countKind = (kind: string) => {
    const isApart = kind in events || expectedKinds.has(kind) || Object.keys(events).length < maxKinds;
    const name = isApart ? kind : otherKinds;
    events[name] = (events[name] ?? 0) + 1;
  };
  const tellSpeech = (found: SpeechMoment[]) => {
    for (const { type, atMs, leftAt } of found) {
      if (type === 'speech-end') emit({ type: 'speech', state: 'end', audioMs: atMs });
      else {
        const bargeIn = metrics.wasHeardAt(leftAt) ? { bargeIn: true as const } : {};
        emit({ type: 'speech', state: 'start', audioMs: atMs, ...bargeIn });
      }
    }
  };

  return {
    metrics,
    emit,
    warn: (code, message) => emit({ type: 'warning', code, message }),
    granted({ claims, rateLimit, status, ms, attempts }) {
      facts.tokenMs = roundMs(ms);
      facts.rateLimit = rateLimit;
      emit({ type: 'token', claims, rateLimit, status, ms: facts.tokenMs, attempts });
    },
    given: (claims) => emit({ type: 'token', claims }),
    took(step, ms) {
      facts[step] = roundMs(ms);
    },
    message(message) {
      const { category, kind, body } = message;
      if (isInterruption(message)) metrics.interrupted(clock.now());
      conversation?.message(message);
      countKind(kind ?? '(none)');
      emit({ type: 'message', category, kind, body });
      transcript.take(readTranscript(message), roundMs(clock.now() - startedAt));
    },
    sent(frame) {
      const now = clock.now();
      tellSpeech(metrics.sent(frame, now));
      tellAudio('out', frame);
      tellFigures(now);
      conversation?.sent(frame);
    },
    sourceEnded: () => tellSpeech(metrics.finishSpeech()),
    received(pcm) {
      const now = clock.now();
      const level = tellAudio('in', pcm);
      metrics.received(pcm.length, level, now);
      conversation?.received(pcm, level);
      tellFigures(now);
    },
    closed({ code, reason }) {
      facts.close = { code, reason, name: closeCodeName(code) };
      emit({ type: 'close', ...facts.close });
    },
    observed: () => ({
      ...metrics.snapshot(),
      events,
      isConfirmed: facts.authoriseMs !== null,
      closeCode: facts.close?.code ?? null,
    }),
    summary: (failure, verdicts, underruns) => ({
      device,
      ok: failure === undefined,
      elapsedMs: roundMs(clock.now() - startedAt),
      ...facts,
      ...metrics.snapshot(),
      underruns,
      events,
      ...(transcript.lines.length === 0 ? {} : { transcript: [...transcript.lines] }),
      verdicts,
      failure: failure === undefined ? null : describeFailure(failure),
    }),
  };
}

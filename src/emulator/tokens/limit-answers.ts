import type { Clock } from '../../kernel/clock.ts';
import type { Dialect } from '../../protocol/dialect.ts';
import { retryAfterHeaderName, writeRateLimitHeaders } from '../../protocol/rate-limit.ts';
import type { EmulatorEvents, SentHeaders } from '../../service/events.ts';
import { refuseRequest } from '../../service/http/refusal.ts';
import type { CountedRequest } from '../../service/state/state.ts';
import type { HttpAnswer } from '../../wire/server/http-answer.ts';

/** The client that asks for a token. */
export interface TokenAsker {
  device: string;
  remote: string;
  sent?: SentHeaders;
}

/** What answers say of a device's window. Specification: "Limits". */
export interface LimitAnswers {
  /** The headers of an answer about the device's window. */
  limitHeaders(rate: CountedRequest): [string, string][];
  /** The refuseRequest of a request over the limit. */
  limited(asker: TokenAsker, rate: Omit<CountedRequest, 'allowed'>): HttpAnswer;
}

export interface LimitAnswersOptions {
  clock: Clock;
  dialect: Dialect;
  events: EmulatorEvents;
}

export function createLimitAnswers({ clock, dialect, events }: LimitAnswersOptions): LimitAnswers {
  const httpDate = createHttpDate();
  const limitHeaders: LimitAnswers['limitHeaders'] = (rate) => {
    const { headersOn, resetFormat } = dialect.rateLimit;
    const wanted = headersOn === 'all' || headersOn === (rate.allowed ? 'success' : 'limited');
    // A client that compares the reset with this header sees the emulator's time, even after it was moved.
    return [
      ['Date', httpDate(clock.wall())],
      ...(wanted ? writeRateLimitHeaders(rate, resetFormat, clock.wall()) : []),
    ];
  };
  return {
    limitHeaders,
    limited(asker, rate) {
      const retryAfter = writeRetryAfter(rate.retryAtMs, dialect.rateLimit.retryAfter, clock.wall());
      const waitMs = Math.max(0, rate.retryAtMs - clock.wall());
      const detail = `${asker.device} has used ${rate.limit - rate.remaining} of ${rate.limit}, the next is allowed after ${(waitMs / 1000).toFixed(1)} s`;
      const answer = refuseRequest('rateLimited', { dialect, events, ...asker, detail });
      return { ...answer, headers: [...limitHeaders({ ...rate, allowed: false }), ...retryAfter] };
    },
  };
}

/** Wall-clock time for a `Date` header, formatted once per second. */
function createHttpDate() {
  let second = Number.NaN;
  let text = '';
  return (nowMs: number): string => {
    const now = Math.floor(nowMs / 1000);
    if (now !== second) text = new Date(nowMs).toUTCString();
    second = now;
    return text;
  };
}

function writeRetryAfter(
  atMs: number,
  format: Dialect['rateLimit']['retryAfter'],
  nowMs: number,
): [string, string][] {
  const seconds = Math.max(1, Math.ceil((atMs - nowMs) / 1000));
  if (format === 'none') return [];
  const value = format === 'seconds' ? String(seconds) : new Date(nowMs + seconds * 1000).toUTCString();
  return [[retryAfterHeaderName, value]];
}

import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { Dialect, RefusalCause } from '../../protocol/dialect.ts';
import { earlyRetryMs, usedUp, writeRateLimitHeaders, writeRetryAfter } from '../../protocol/rate-limit.ts';
import { parseTokenRequest } from '../../protocol/token-request.ts';
import type { EmulatorEvents, SentHeaders } from '../../service/events.ts';
import type { Faults } from '../../service/faults/faults.ts';
import { answerWithFaults, type Unanswered, type WrongToken } from '../../service/faults/token-faults.ts';
import { invalidRequest, refuseRequest } from '../../service/http/refusal.ts';
import { type CountedRequest, isUnavailable, type State } from '../../service/state/state.ts';
import type { OutgoingAnswer } from '../../wire/server/http-answer.ts';
import type { TokenAuthority } from './token-authority.ts';
import { roundedSecondsText } from './token-problem.ts';

export interface TokenEndpointOptions {
  clock: Clock;
  dialect: Dialect;
  events: EmulatorEvents;
  authority: TokenAuthority;
  faults: Faults;
  state: Pick<State, 'countRequest' | 'lookAtLimit' | 'rememberIssued'>;
  /** Token requests per device and window. */
  rateLimit: number;
  accepts: (apiKey: string) => boolean;
}

export interface TokenEndpoint {
  /** Answers the body of a token request. Specification: "POST /api/websocket-voice/token". */
  answer(body: Uint8Array, remote: string, sent?: SentHeaders): Promise<OutgoingAnswer | Unanswered>;
  /** Forgets which devices were refused, and resets the connections of requests that still wait for their answer. */
  forget(): void;
}

export function createTokenEndpoint(options: TokenEndpointOptions): TokenEndpoint {
  const { clock, dialect, events, authority, faults, state, rateLimit, accepts } = options;
  const { limitHeaders, granted, limited, forget } = createLimitAnswers(options);

  const unreached = (asker: TokenAsker, { unreached: detail }: Unreached) =>
    refuseRequest('unavailable', { dialect, events, ...asker, detail });

  let pending = new AbortController();

  const grant = async (
    asker: TokenAsker,
    { askedAt, signal }: Asked,
    wrong?: WrongToken,
  ): Promise<OutgoingAnswer> => {
    const { device, sent } = asker;
    const counted = state.countRequest(device);
    const rate = counted instanceof Promise ? await reached(counted) : counted;
    if ('unreached' in rate) return unreached(asker, rate);
    if (!rate.allowed) return limited(asker, rate);
    const issued = authority.issue(device, wrong);
    const { token, claims } = issued instanceof Promise ? await issued : issued;
    signal.throwIfAborted();
    const noted = state.rememberIssued(claims);
    if (noted instanceof Promise) await noted;
    const { remaining, resetAtMs } = rate;
    const { jti, exp } = claims;
    const ms = Math.round((clock.now() - askedAt) * 1000) / 1000;
    events.emit({ type: 'token-issued', device, jti, exp, remaining, resetAtMs, ms, ...(sent && { sent }) });
    return { status: 200, body: { token }, headers: granted(asker, rate) };
  };

  /** Refuses an invalid request, unless the dialect counts it and the limit comes first. */
  const refuseWrong = async (
    { device, ...from }: Omit<TokenAsker, 'device'> & { device: string | undefined },
    refuse: () => OutgoingAnswer,
  ): Promise<OutgoingAnswer> => {
    const { countsInvalid, headersOnInvalid } = dialect.rateLimit;
    if (device === undefined || !(countsInvalid || headersOnInvalid)) return refuse();
    const counted = countsInvalid ? state.countRequest(device) : state.lookAtLimit(device);
    const rate = await (counted instanceof Promise ? reached(counted) : counted);
    if ('unreached' in rate) return unreached({ device, ...from }, rate);
    if (countsInvalid && !rate.allowed) return limited({ device, ...from }, rate);
    return headersOnInvalid ? { ...refuse(), headers: limitHeaders(rate) } : refuse();
  };

  const decide = async (
    body: Uint8Array,
    from: Omit<TokenAsker, 'device'>,
    asked: Asked,
  ): Promise<OutgoingAnswer | Unanswered> => {
    const parsed = parseTokenRequest(body);
    if (!parsed.ok) {
      const { problem } = parsed;
      const { deviceId } = problem;
      const about = { dialect, events, ...from, ...(deviceId === undefined ? {} : { device: deviceId }) };
      return refuseWrong({ device: deviceId, ...from }, () => invalidRequest(problem, about));
    }
    const { apiKey, deviceId: device } = parsed.request;
    const asker: TokenAsker = { device, ...from };
    const refuse = (cause: RefusalCause) => refuseRequest(cause, { dialect, events, ...asker });
    if (!accepts(apiKey)) return refuseWrong(asker, () => refuse('unauthorized'));
    const struck = faults.strike('token', asker);
    if (struck.length === 0) return grant(asker, asked);
    const answers = {
      normal: (wrong?: WrongToken) => grant(asker, asked, wrong),
      refuse,
      limited: (resetInMs: number) => limited(asker, usedUp(rateLimit, { resetInMs, nowMs: clock.wall() })),
    };
    return answerWithFaults(struck, answers, clock, asked.signal);
  };

  return {
    async answer(body, remote, sent) {
      const { signal } = pending;
      try {
        return await decide(body, { remote, ...(sent && { sent }) }, { askedAt: clock.now(), signal });
      } catch (thrown) {
        if (signal.aborted) return 'reset';
        throw thrown;
      }
    },
    forget() {
      forget();
      pending.abort();
      pending = new AbortController();
    },
  };
}

/**
 * Which API keys the token endpoint accepts: the given ones, or any non-empty key if none is given. Kept as
 * hashes, so that neither the time of a comparison nor a heap dump reveals a key.
 */
export function createAcceptedKeys(keys: readonly string[]): (key: string) => boolean {
  if (keys.length === 0) return () => true;
  const hash = (key: string) => createHash('sha256').update(key).digest('base64');
  const accepted = new Set(keys.map(hash));
  return (key) => accepted.has(hash(key));
}

/** The state could not be reached; `unreached` says why. */
interface Unreached {
  unreached: string;
}

async function reached(counted: Promise<CountedRequest>): Promise<CountedRequest | Unreached> {
  try {
    return await counted;
  } catch (thrown) {
    if (!isUnavailable(thrown)) throw thrown;
    return { unreached: thrown.message };
  }
}

/** The device that requests a token. */
interface TokenAsker {
  device: string;
  remote: string;
  sent?: SentHeaders;
}

/** When a token was requested, and what aborts if the emulator is reset before the answer. */
interface Asked {
  askedAt: number;
  signal: AbortSignal;
}

/** What answers say about a device's window. Specification: "Limits". */
interface LimitAnswers {
  /** The headers of an answer about the device's window. */
  limitHeaders(rate: CountedRequest): [string, string][];
  /** The same for a token, which ends the device's last refusal. */
  granted(asker: TokenAsker, rate: CountedRequest): [string, string][];
  /** Forgets who was refused. */
  forget(): void;
  /** Refuses a request over the limit. */
  limited(asker: TokenAsker, rate: Omit<CountedRequest, 'allowed'>): OutgoingAnswer;
}

function createLimitAnswers({
  clock,
  dialect,
  events,
}: Pick<TokenEndpointOptions, 'clock' | 'dialect' | 'events'>): LimitAnswers {
  const httpDate = createHttpDate();
  const haste = createHaste(dialect.rateLimit.retryAfter !== 'none');
  const limitHeaders: LimitAnswers['limitHeaders'] = (rate) => {
    const { headersOn, resetFormat } = dialect.rateLimit;
    const wanted = headersOn === 'all' || headersOn === (rate.allowed ? 'success' : 'limited');
    // A device that compares the reset with this header sees the emulator's time, even after it was moved.
    return [['Date', httpDate(clock.wall())], ...(wanted ? writeRateLimitHeaders(rate, resetFormat) : [])];
  };
  return {
    limitHeaders,
    granted({ device }, rate) {
      haste.granted(device);
      return limitHeaders(rate);
    },
    forget: haste.forget,
    limited(asker, rate) {
      const retryAfter = writeRetryAfter(rate, dialect.rateLimit.retryAfter);
      const waitMs = rate.retryInMs;
      const detail = `${asker.device} has used ${rate.limit - rate.remaining} of ${rate.limit} requests; the next is allowed in ${roundedSecondsText(waitMs / 1000)}${haste.refused(asker.device, clock.now(), waitMs)}`;
      const answer = refuseRequest('rateLimited', { dialect, events, ...asker, detail });
      return { ...answer, headers: [...limitHeaders({ ...rate, allowed: false }), ...retryAfter] };
    },
  };
}

/** Devices whose last refusal is remembered. */
const maxRefused = 1_000;

/** Advice for a device that retries before the time that its last refusal named. `named`: in Retry-After. */
function createHaste(named: boolean) {
  const refusals = new Map<string, { at: number; waitMs: number }>();
  const wait = named ? 'wait as long as Retry-After says' : 'wait until then';
  return {
    granted: (device: string) => refusals.delete(device),
    forget: () => refusals.clear(),
    refused(device: string, now: number, waitMs: number): string {
      const last = refusals.get(device);
      refusals.delete(device);
      refusals.set(device, { at: now, waitMs });
      const [oldest] = refusals.keys();
      if (refusals.size > maxRefused && oldest !== undefined) refusals.delete(oldest);
      if (last === undefined || now - last.at >= last.waitMs - earlyRetryMs) return '';
      return `; it retried after ${roundedSecondsText((now - last.at) / 1000)}: ${wait}, and longer after each refusal`;
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

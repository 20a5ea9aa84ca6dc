import { type ErrorCode, VoicectlError } from '../kernel/errors.ts';
import { countText } from '../protocol/count-text.ts';
import { invalidRequestCode } from '../protocol/error-body.ts';
import { remainingOf } from '../rules/rate-window.ts';
import type { Seen } from '../rules/rule.ts';
import {
  errorOf,
  isPage,
  isProper,
  type SeenAnswer,
  type SeenToken,
  tokenRequests,
} from '../rules/token-seen.ts';
import { madeUpKeyHint } from '../wire/client/token.ts';
import type { HttpAnswer } from '../wire/exchange.ts';

/** A reason to stop that lies with the service. */
export function serviceTrouble(code: ErrorCode, message: string, hint?: string): VoicectlError {
  return new VoicectlError(code, message, { hint, details: { isTrouble: true } });
}

/** Watches answers for a service that is in trouble or does not want us, and stops the run. */
export interface StopWatch {
  /** Why the run ended before its plan did. The detail `isTrouble` says that the reason lies with the service. */
  readonly stopped: VoicectlError | undefined;
  /** Examines an exchange; `again` means: repeat the same request immediately, to be sure. */
  look(seen: Seen): 'again' | undefined;
  /** Something that the specification promises did not come. */
  miss(what: string): void;
  /** The user, the system or a time limit stops the run. */
  end(reason: VoicectlError): void;
}

/** Fewer requests left than this may be needed by the users of the device. */
const fewestLeft = 10;
/** This often is not a coincidence. */
const limit = 2;

type Trouble = 'auth' | 'server' | 'tls' | 'timeout' | 'unreachable';

const stops: Record<Trouble, (what: string) => VoicectlError> = {
  auth: (what) =>
    serviceTrouble(
      'auth-refused',
      `The service does not accept the key: ${what}, twice`,
      'The service may not accept generated device identifiers: name known ones with --device, or use --one-device.',
    ),
  server: (what) => serviceTrouble('service-error', `The service failed twice: ${what}`),
  tls: (what) =>
    serviceTrouble(
      'tls-failed',
      what,
      'If the certificate is right, pass the certificate of its authority with --ca.',
    ),
  timeout: (what) => serviceTrouble('timed-out', `The service did not answer: ${what}`),
  unreachable: (what) => serviceTrouble('connect-failed', what),
};

function madeUpKeyRefused(what: string): VoicectlError {
  const message = `No API key was set, and the service refuses the made-up one: ${what}, twice`;
  return serviceTrouble('auth-refused', message, madeUpKeyHint);
}

/** `isKeyMadeUp`: nobody has set a key. */
export function createStopWatch({ isKeyMadeUp }: { isKeyMadeUp: boolean }): StopWatch {
  let stopped: VoicectlError | undefined;
  const counts: Record<Trouble, number> = { auth: 0, server: 0, tls: 0, timeout: 0, unreachable: 0 };
  let answers = 0;
  let elsewhere = 0;

  const stop = (reason: VoicectlError) => {
    stopped ??= reason;
    return undefined;
  };
  const count = (kind: Trouble, what: string): 'again' | undefined => {
    counts[kind] += 1;
    if (counts[kind] >= limit)
      return stop(kind === 'auth' && isKeyMadeUp ? madeUpKeyRefused(what) : stops[kind](what));
    return 'again';
  };
  const lookAtAnswer = (answer: HttpAnswer, where: string): 'again' | undefined => {
    const { status } = answer;
    const what = `${where} answered ${status}`;
    if (status === 429) return stop(serviceTrouble('rate-limited', `${what}: too many requests`));
    if (status === 401 || status === 403) return count('auth', what);
    if (status >= 500) return count('server', what);
    return undefined;
  };
  const lookAtRemaining = (seen: SeenAnswer) => {
    const remaining = remainingOf(seen);
    if (remaining === undefined || remaining > fewestLeft) return;
    stop(
      serviceTrouble('rate-limited', `This device has only ${countText(remaining, 'token request')} left`),
    );
  };
  /** A page or a redirect in place of every answer is not a service. */
  const lookForService = ({ status, ...answer }: HttpAnswer) => {
    const isRedirect = status >= 300 && status < 400;
    answers += 1;
    if (isRedirect || isPage({ status, ...answer })) elsewhere += 1;
    if (answers < limit || elsewhere < answers) return;
    const message = isRedirect
      ? `The service redirects with ${status}: a key never follows a redirect`
      : `A web page, not the service, answered with ${status}`;
    stop(serviceTrouble(isRedirect ? 'redirected' : 'protocol-violation', message));
  };
  const lookAtToken = (seen: SeenToken): 'again' | undefined => {
    const { answer, breakdown } = seen.exchange;
    if (answer === undefined || breakdown?.code === 'timed-out')
      return lookAtBreakdown(breakdown?.code, breakdown?.message ?? 'no answer');
    const answered = seen as SeenAnswer;
    const isOwnFault = errorOf(answered).code === invalidRequestCode;
    if (seen.provoked === true || (!isProper(seen) && (answer.status !== 429 || isOwnFault)))
      return undefined;
    lookForService(answer);
    lookAtRemaining(answered);
    return lookAtAnswer(answer, 'The token endpoint');
  };
  const lookAtBreakdown = (code: ErrorCode | undefined, message: string): 'again' | undefined => {
    if (code === 'timed-out') return count('timeout', message);
    if (code === 'tls-failed') return count('tls', message);
    if (answers === 0 && code === 'connect-failed') return stop(serviceTrouble(code, message));
    return count('unreachable', message);
  };

  return {
    get stopped() {
      return stopped;
    },
    miss: (what) => void count('timeout', what),
    end: (reason) => void stop(reason),
    look(seen) {
      const { exchange } = seen;
      const [token] = tokenRequests([seen]);
      if (token !== undefined) return lookAtToken(token);
      if (seen.provoked === true) return undefined;
      if (exchange.kind === 'token') {
        // A request without a key: any answer is fine, but silence is trouble.
        const { breakdown } = exchange;
        if (breakdown?.code === 'timed-out') count('timeout', breakdown.message);
        return undefined;
      }
      const { answer, breakdown } = exchange.upgrade;
      if (answer !== undefined) lookAtAnswer(answer, 'The voice stream');
      else lookAtBreakdown(breakdown?.code, breakdown?.message ?? 'no answer');
      return undefined;
    },
  };
}

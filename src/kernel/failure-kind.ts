import { audioFailures } from './audio-limits.ts';
import { type ErrorCode, exitCodes, type VoicectlError } from './errors.ts';

/**
 * Every way in which a run can fail, as reports name it: a closed list, short enough to group failures by. The
 * table in docs/CLI.md is generated from it.
 */
export const failureKinds = {
  ...audioFailures,
  'missing-event': 'a service message did not arrive, or not in time',
  'forbidden-event': 'an unexpected service message arrived',
  'wrong-field': 'a field of a service message had an unexpected value',
  'unexpected-audio': 'the AI spoke when it should not have',
  'not-interrupted': 'the AI went on speaking when the user spoke',
  'unclean-audio': 'the format or the sound of the AI audio has findings',
  'false-interruption': 'the AI stopped because of a sound that is not a turn',
  'answers-noise': 'the AI replied to a sound that is not a turn',
  'early-reply': 'a reply began before the end of the turn',
  'no-reply': 'a turn had no reply',
  'judge-failed': 'a command that judges a reply did not accept it, or could not run',
  'turn-skipped': 'a turn of the conversation did not take place, or was not completed',
  'wrong-close': 'the stream closed with an unexpected code',
  threshold: 'a threshold of `load` was crossed, or none of its sessions was confirmed',
  violation: 'a side broke a rule (`--fail-on`)',
  'not-asked': 'an exchange was not repeated (`check --again`)',
  worse: 'a result is worse than the earlier one, or than its baseline',
  'token-refused': 'the token endpoint refused the key',
  'stream-refused': 'the stream refused the token',
  unreachable: 'the service could not be reached',
  tls: 'the certificate was not valid, or the TLS handshake failed',
  handshake: 'the WebSocket did not open',
  'rate-limited': 'too many token requests, after the retries',
  'too-many-connections': 'too many connections for the device',
  'stream-broken': 'the connection broke while it was in use',
  protocol: 'the service violated the protocol',
  redirected: 'the service redirected, but keys and tokens are never sent to a redirect target',
  'service-error': 'the service reported an error and ended the stream',
  timeout: 'a time limit was exceeded',
  'not-valid':
    'the measurement is not valid: the measuring machine was the bottleneck, or a part of the run was lost',
  'local-io': 'a file, a sound device or a pipe on this machine failed',
  usage: 'a flag, a setting or an input file was wrong: nothing was tested',
  cancelled: 'the run was interrupted or terminated',
  bug: 'voicectl itself failed',
} as const;

export type FailureKind = keyof typeof failureKinds;

const ownFailures: readonly FailureKind[] = ['usage', 'local-io', 'bug', 'cancelled'];

/** Whether the cause is this machine or its user, not the service: another run fails in the same way. */
export function isOwnFailure(kind: FailureKind): boolean {
  return ownFailures.includes(kind);
}

/** The kind of each error. A failed expectation has its kind in the error's details. */
const kindOfCode: Record<Exclude<ErrorCode, 'expectation-failed'>, FailureKind> = {
  usage: 'usage',
  'bad-config': 'usage',
  'bad-input': 'usage',
  'bad-dialect': 'usage',
  'insecure-target': 'usage',
  'host-exposed': 'usage',
  'port-in-use': 'usage',
  'auth-refused': 'token-refused',
  'stream-refused': 'stream-refused',
  'connect-failed': 'unreachable',
  'tls-failed': 'tls',
  'handshake-failed': 'handshake',
  'rate-limited': 'rate-limited',
  'too-many-connections': 'too-many-connections',
  'stream-broken': 'stream-broken',
  'protocol-violation': 'protocol',
  redirected: 'redirected',
  'service-error': 'service-error',
  'timed-out': 'timeout',
  'input-output': 'local-io',
  'closed-pipe': 'local-io',
  'audio-device': 'local-io',
  'not-valid': 'not-valid',
  internal: 'bug',
  'hung-up': 'cancelled',
  interrupted: 'cancelled',
  quit: 'cancelled',
  terminated: 'cancelled',
};

/** The failure of a run in reports: its kind, the error's code and exit code, and its message. */
export interface Failure {
  kind: FailureKind;
  code: ErrorCode;
  exitCode: number;
  message: string;
}

/** The kind of an error. */
export function failureKind({ code, details }: VoicectlError): FailureKind {
  if (code !== 'expectation-failed') return kindOfCode[code];
  const { kind } = details;
  return isFailureKind(kind) ? kind : 'bug';
}

function isFailureKind(kind: unknown): kind is FailureKind {
  return typeof kind === 'string' && Object.hasOwn(failureKinds, kind);
}

/** The exit codes of a kind of failure. */
export function exitCodesOf(kind: FailureKind): number[] {
  const codes = Object.entries(kindOfCode).filter(([, other]) => other === kind);
  const exits = codes.map(([code]) => exitCodes[code as ErrorCode]);
  return exits.length === 0 ? [exitCodes['expectation-failed']] : [...new Set(exits)];
}

/** An error in the form of a report. */
export function describeFailure(error: VoicectlError): Failure {
  const { code, exitCode, message } = error;
  return { kind: failureKind(error), code, exitCode, message };
}

/** `late-audio × 2, unreachable × 1`. */
export function kindCountsText(counts: Partial<Record<FailureKind, number>>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${kind} × ${count}`)
    .join(', ');
}

import { types } from 'node:util';

/**
 * Every way in which voicectl can fail, with its exit code. The codes are
 * part of the command line contract: scripts group failures by them.
 */
export const exitCodes = {
  'expectation-failed': 1,
  usage: 2,
  'bad-config': 2,
  'bad-input': 2,
  'bad-dialect': 2,
  'insecure-target': 2,
  'host-exposed': 2,
  'port-in-use': 2,
  'auth-refused': 3,
  'stream-refused': 3,
  'connect-failed': 4,
  'tls-failed': 4,
  'handshake-failed': 4,
  'rate-limited': 5,
  'too-many-connections': 5,
  'stream-broken': 6,
  'protocol-violation': 6,
  redirected: 6,
  'service-error': 6,
  'timed-out': 7,
  'input-output': 8,
  'closed-pipe': 8,
  'audio-device': 8,
  'not-valid': 9,
  internal: 70,
  'hung-up': 129,
  interrupted: 130,
  quit: 131,
  terminated: 143,
} as const;

export type ErrorCode = keyof typeof exitCodes;

export interface VoicectlErrorOptions {
  /** How to fix it, in one sentence. */
  hint?: string | undefined;
  /** Whether the same attempt may succeed later. */
  retryable?: boolean;
  cause?: unknown;
  /** Machine-readable facts of this failure. */
  details?: FailureDetails;
}

/** The typed facts that an error may carry: programs base decisions on them, and JSON output shows them. */
export interface FailureDetails {
  /** The refusal of an HTTP request: the evidence and its parsed content. */
  status?: number;
  answer?: { status: number; headers: readonly (readonly [name: string, value: string])[]; body: string };
  serviceCode?: string | undefined;
  serviceMessage?: string | undefined;
  rateLimit?: Record<'limit' | 'remaining' | 'resetAtMs', number | undefined>;
  /** How long the service asked to wait. */
  retryAfterMs?: number;
  closeCode?: number;
  closeReason?: string;
  /** The kind of an expectation that failed. */
  kind?: string | undefined;
  /** The exit code of a command that could not be run. */
  exitCode?: number;
  /** The file that was read, or that should be written. */
  input?: string;
  output?: string;
  /** The place of the error in a file or a value. */
  line?: number;
  column?: number;
  path?: readonly PropertyKey[];
  problems?: readonly object[];
  /** Why each audio backend was rejected. */
  backends?: readonly { name: string; reason: string }[];
  /** The process of a device runs, but the device accepts no audio. */
  stalled?: boolean;
  /** For a check: the service is the reason why it ended early. */
  isTrouble?: boolean;
  /** Several devices match the name that the user gave. */
  isAmbiguous?: boolean;
  rate?: number;
  maxMs?: number;
  durationMs?: number;
}

/** An error that a user can act on: a stable code, a sentence, and where possible a hint. */
export class VoicectlError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly details: FailureDetails;

  constructor(code: ErrorCode, message: string, options: VoicectlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'VoicectlError';
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}

/** The process or the machine has reached its limit of open files and connections. */
const noDescriptors: readonly unknown[] = ['EMFILE', 'ENFILE'];

/** Turns anything thrown into an error with a code. An unknown error is a bug. */
export function toVoicectlError(thrown: unknown): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  if (isError(thrown) && 'code' in thrown && noDescriptors.includes(thrown.code)) {
    return new VoicectlError('usage', 'Too many files and connections are open', {
      hint: 'Raise the limit, for example with ulimit -n 1024.',
      cause: thrown,
    });
  }
  if (isError(thrown) && 'syscall' in thrown && thrown.syscall === 'uv_cwd') {
    return new VoicectlError('input-output', 'The working folder no longer exists', {
      hint: 'Change to a folder that exists.',
      cause: thrown,
    });
  }
  const message = messageOf(thrown);
  return new VoicectlError('internal', message, { cause: thrown });
}

/**
 * Whether this is an error, even one of another realm: in Jest the errors of Node's own modules are not
 * instances of the global `Error`.
 */
export function isError(thrown: unknown): thrown is Error {
  return types.isNativeError(thrown) || thrown instanceof Error;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown);
}

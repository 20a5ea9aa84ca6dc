/**
 * Every way in which voicectl can fail, and the exit code that it ends with. The codes are
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
  'audio-device': 8,
  internal: 70,
  interrupted: 130,
  terminated: 143,
} as const;

export type ErrorCode = keyof typeof exitCodes;

export interface VoicectlErrorOptions {
  /** How to mend it, in one sentence. */
  hint?: string | undefined;
  /** Whether the same attempt may succeed a moment later. */
  retryable?: boolean;
  cause?: unknown;
  /** Machine-readable facts of this failure: the service's code, the HTTP status, the path of a setting. */
  details?: Record<string, unknown>;
}

/** An error that a user can act on: a stable code, a sentence, and where possible a hint. */
export class VoicectlError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly details: Record<string, unknown>;

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

/** What was thrown, as an error that has a code: anything unknown is a bug of ours. */
export function toVoicectlError(thrown: unknown): VoicectlError {
  if (thrown instanceof VoicectlError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new VoicectlError('internal', message, { cause: thrown });
}

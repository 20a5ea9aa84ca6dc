import { VoicectlError } from '../../kernel/errors.ts';
import type { TokenClaims } from '../../protocol/claims.ts';
import type { JournalQuery } from '../../protocol/control.ts';
import type { RateLimit } from '../../protocol/rate-limit.ts';
import type { EmulatorEvent } from '../events.ts';

/**
 * What the service knows beyond one connection. Each call is one atomic step: nobody else reads or
 * writes in between.
 */
export interface State {
  /** Counts one token request of a device. Specification: "Limits". */
  countRequest(device: string): Eventual<CountedRequest>;
  /** What `countRequest` would answer, without counting. */
  lookAtLimit(device: string): Eventual<CountedRequest>;
  /** Notes a token that was issued, so that `survey` shows it. */
  rememberIssued(token: TokenClaims): Eventual<void>;
  /** Uses a token up; false if it was used before and the dialect allows only one use. */
  spendToken(token: TokenClaims): Eventual<boolean>;
  /** Takes a connection slot; undefined if the device has none left. Specification: "Limits". */
  leaseSlot(device: string): Eventual<SlotLease | undefined>;
  /** What the state knows now, for the control API. */
  survey(): Eventual<Survey>;
  /** How far the clock of the service is ahead of the machine's, milliseconds. */
  clockOffset(): number;
  /** Moves the clock of the service forward. */
  advance(ms: number): Eventual<void>;
  /** Clears windows, the list of issued tokens, and the journal. A used token stays used, a taken slot stays taken. */
  forget(): Eventual<void>;
  readonly journal: StateJournal;
}

/** An event with its place in the order of all events. */
export type JournalEntry = { seq: number } & EmulatorEvent;

export type JournalFilter = Pick<JournalQuery, 'type' | 'device' | 'stream' | 'since'>;

/** Remembers the events of the service. */
export interface StateJournal {
  add(event: EmulatorEvent): void;
  read(filter: JournalFilter, limit: number): Eventual<JournalEntry[]>;
  follow(filter: JournalFilter, listener: (entry: JournalEntry) => void): () => void;
  clear(): Eventual<void>;
}

/** The state of a service in one process: every answer is synchronous. */
export type LocalState = {
  [Name in keyof State]: State[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Awaited<Result>
    : State[Name];
};

/** The answer to a token request, by its device's window. */
export interface CountedRequest extends RateLimit {
  /** Whether the request is within the limit. */
  allowed: boolean;
  /** If this request is refused: when the next one is allowed, in wall-clock milliseconds. */
  retryAtMs: number;
  /** Milliseconds until then, not rounded. */
  retryInMs: number;
}

export interface SlotLease {
  /** Connections of the device, including this one. */
  connections: number;
  /** Gives the slot back. Calling it twice is harmless. */
  release(): void;
  /** Calls once if another connection took the slot, because this emulator did not renew it in time. */
  onLost?(call: () => void): void;
}

/** Everything that the state can show. */
export interface Survey {
  /** The open windows; `resetAtMs` is wall-clock time. */
  windows: { device: string; requests: number; resetAtMs: number }[];
  /** Slots in use, by device. */
  connections: ReadonlyMap<string, number>;
  /** The newest tokens that have not expired, oldest first. */
  tokens: { token: TokenClaims; used: boolean }[];
}

/** A value, or the promise of one that has to be fetched. */
export type Eventual<Value> = Value | Promise<Value>;

/** An interface whose answers may have to be fetched. */
export type Eventually<Api> = {
  [Name in keyof Api]: Api[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Eventual<Result>
    : Api[Name];
};

/** Applies `use` to a value; in the same tick if the value is there. */
export function whenKnown<Value, Result>(
  value: Eventual<Value>,
  use: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** The error if the state cannot be reached, so that nothing can be granted: `connect-failed`, retryable. */
export function stateUnavailable(why: string, cause?: unknown): VoicectlError {
  return new VoicectlError('connect-failed', why, { retryable: true, cause });
}

/** Whether a call failed because the state cannot be reached. A bug is something else. */
export function isUnavailable(thrown: unknown): thrown is VoicectlError {
  return thrown instanceof VoicectlError && thrown.code === 'connect-failed';
}

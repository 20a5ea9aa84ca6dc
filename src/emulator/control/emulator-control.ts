import type { EmulatorState, StreamSelector } from '../../protocol/control.ts';
import type { ReplyState } from '../../protocol/messages.ts';
import type { Faults } from '../faults/faults.ts';
import type { Eventually } from '../state/eventual.ts';
import type { Journal, StateJournal } from '../state/journal.ts';

/** A text message to send: as the dialect words it, or as it is. */
export type ControlMessage =
  | { status: ReplyState }
  | { error: { code: string; message: string } }
  | { json: unknown };

/** Control of a running emulator. What acts on streams returns the numbers of those that it reached. */
export interface EmulatorControl {
  state(): EmulatorState;
  readonly journal: Journal;
  /** The emulator's time: wall-clock milliseconds, and how far it is ahead of the machine's. */
  time(): { nowMs: number; aheadMs: number };
  /** Moves the clock forward: tokens expire, windows reset and deadlines pass at once. Audio keeps its pace. */
  advance(ms: number): void;
  /** Closes all streams with 1012, forgets windows, the list of tokens and the journal, and goes back to the faults of the start. */
  reset(): number[];
  send(selector: StreamSelector, message: ControlMessage): number[];
  /** Says 16 kHz s16le mono, after whatever is still being said. */
  speak(selector: StreamSelector, pcm: Buffer): number[];
  /** Tells scenarios and reply modules that something happened outside; returns the streams where one takes events. */
  event(selector: StreamSelector, name: string): number[];
  close(selector: StreamSelector, code: number, reason: string): number[];
  /** Faults: those that are active, one more, and an end of one or of all. */
  readonly faults: Pick<Faults, 'add' | 'list' | 'clear'>;
}

/** The same over any state: an answer is there at once, or promised. */
export type AnyControl = Eventually<Omit<EmulatorControl, 'journal'>> & {
  readonly journal: Omit<StateJournal, 'add'>;
};

import type { Pcm } from '../../audio/whole-pcm.ts';
import type { EmulatorState, StreamSelector } from '../../protocol/control.ts';
import type { ReplyState } from '../../protocol/messages.ts';
import type { Faults } from '../faults/faults.ts';
import type { Journal } from '../state/journal.ts';
import type { Eventually, StateJournal } from '../state/state.ts';

/** A text message to send: in the wording of the dialect, or raw. */
export type ControlMessage =
  | { status: ReplyState }
  | { error: { code: string; message: string } }
  | { json: unknown };

/**
 * Control of a running emulator. Methods that act on streams return the numbers of the streams they reached. Wrong arguments
 * throw `usage`.
 */
export interface EmulatorControl {
  state(): EmulatorState;
  readonly journal: Journal;
  /**
   * The emulator's time: wall-clock milliseconds, and how far it is ahead of the machine's. `proxy`: it is not that of the
   * service behind the proxy.
   */
  time(): { nowMs: number; aheadMs: number; proxy?: true };
  /** Moves the clock forward: tokens expire, windows reset and deadlines pass at once. Audio keeps its pace. */
  advance(ms: number): void;
  /**
   * Closes all streams with 1012, resets the connections of token requests that still wait, clears windows, tokens and
   * journal, and restores the initial faults.
   */
  reset(): number[];
  send(selector: StreamSelector, message: ControlMessage): number[];
  /** Says 16 kHz s16le mono, after the audio that is still playing. */
  speak(selector: StreamSelector, pcm: Pcm): number[];
  /** Sends a named event to scenarios and reply modules; returns the streams where one takes events. */
  event(selector: StreamSelector, name: string): number[];
  /** Closes with 1000 and no reason, or as given. Throws `usage` if the code or the reason cannot be sent. */
  close(selector: StreamSelector, code?: number, reason?: string): number[];
  /** Faults: list the active ones, add one, remove one or all. */
  readonly faults: Pick<Faults, 'add' | 'list' | 'clear'>;
}

/** The same over any state: methods return a value or a promise. */
export type AnyControl = Eventually<Omit<EmulatorControl, 'journal' | 'faults'>> & {
  readonly journal: Omit<StateJournal, 'add'>;
  readonly faults: Eventually<EmulatorControl['faults']>;
};

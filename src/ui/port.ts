/** The messages between the program and the drawing thread. */

export type ScreenName = 'stream' | 'serve' | 'check' | 'drill' | 'load';

/** What is known from the start. */
export interface ScreenStart {
  screen: ScreenName;
  /** The command, for the head of the screen; default: the name of the screen. */
  command?: string | undefined;
  version: string;
  /** Whether to use ASCII characters only. */
  ascii: boolean;
  /** The actions that the program supports; keys for others are not shown. */
  can: readonly ActionType[];
  /** The subject, for the head of the screen. */
  subject: string;
  /** Limits above which a figure is marked, in milliseconds; optional. */
  limits?: { firstAudioMs?: number | undefined; gapMs?: number | undefined; jitterMs?: number | undefined };
  /** For the emulator: the faults that can be added. */
  emulator?: { faults: readonly { name: string; summary: string }[] };
}

/** The events since the last frame, and the moment to draw. */
export interface FrameRequest {
  columns: number;
  rows: number;
  /** Milliseconds on the axis of the events. */
  now: number;
  /** Milliseconds since the epoch. */
  wall: number;
  events: readonly unknown[];
  /** The keys as the terminal sent them. */
  input: string;
  /** Whether the terminal is empty, so that every line must be written. */
  fresh: boolean;
  /** Only in the first request. */
  start?: ScreenStart;
}

/** An action that the user requests from the program. */
export type Action =
  | { type: 'quit' }
  | { type: 'copy'; text: string; what: string }
  | { type: 'copyCurl' }
  | { type: 'save'; text: string }
  | { type: 'mute'; on: boolean }
  | { type: 'reconnect' }
  | { type: 'advance'; ms: number }
  | { type: 'close'; stream: number }
  | { type: 'send'; stream: number; text: string }
  | { type: 'fault'; text: string }
  | { type: 'clearFault'; id: number };

export type ActionType = Action['type'];

export interface Frame {
  /** To be written to the terminal. */
  patch: string;
  actions: readonly Action[];
  /** How long drawing took. */
  tookMs: number;
}

/** A message from the program itself to the user. */
export interface Notice {
  type: 'notice';
  text: string;
  /** Shown in the event list too. */
  stays?: true;
}

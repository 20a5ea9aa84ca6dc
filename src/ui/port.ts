/** What is said between the program and the thread that draws its screen. */

/** Known from the start. */
export interface ScreenStart {
  screen: 'stream' | 'serve';
  version: string;
  /** No characters beyond ASCII. */
  ascii: boolean;
  /** What the program can do at the user's word; keys for anything else are not shown. */
  can: readonly ActionType[];
  /** What this is about, for the head of the screen. */
  subject: string;
  /** Limits past which a figure is marked, in milliseconds; what is left out has its default. */
  limits?: { firstAudioMs?: number | undefined; gapMs?: number | undefined; jitterMs?: number | undefined };
  /** The emulator: the faults that can be added. */
  emulator?: { faults: readonly { name: string; summary: string }[] };
}

/** What has come in since the last frame, and the moment to draw. */
export interface FrameRequest {
  columns: number;
  rows: number;
  /** Milliseconds on the axis of the events. */
  now: number;
  /** Milliseconds since the epoch. */
  wall: number;
  events: readonly unknown[];
  /** Keys, as the terminal sent them. */
  input: string;
  /** The screen is empty: everything is to be written. */
  fresh: boolean;
}

/** What a user asks of the program. */
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

/** What the program itself tells the user, beside the events. */
export interface Notice {
  type: 'notice';
  text: string;
  /** Shown in the event list too. */
  stays?: true;
}

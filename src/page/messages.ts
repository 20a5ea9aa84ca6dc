import type { EmulatorState } from '../protocol/control.ts';
import type { Direction } from '../recording/format.ts';
import type { VerdictNews } from '../ui/verdict-model.ts';
import type { Mark } from './view-data.ts';

/** What the emulator tells its page: JSON lines of one stream for each tab. */
export type PageMessage = Hello | EventsMessage | AudioMessage | StateMessage;

/** What a run of verdicts tells its page: first what it is, then what happens. */
export type VerdictMessage =
  | { type: 'verdicts'; version: string; command: 'check' | 'drill'; subject: string }
  | VerdictNews;

/** The first message. */
export interface Hello {
  type: 'hello';
  version: string;
  /** The service behind a proxy; undefined for an emulator. */
  target: string | undefined;
  /** The name of this emulator, where several are one service. */
  instance: string | undefined;
  /** The address of the emulator, as the command line takes it; undefined for its default. */
  baseUrl: string | undefined;
  curl: string;
  /** How far the emulator's clock was ahead of the machine's before the events that follow, milliseconds. */
  aheadMs: number;
  /** Paths of the control API, by operation. */
  paths: Record<string, string>;
  faults: readonly FaultForm[];
}

/** New events, each with its number. A number that is left out was lost. `entries`: of the journal. */
export interface EventsMessage {
  type: 'events';
  entries: unknown[];
}

/** What was heard since the last message. `at`: milliseconds since the emulator started, of the machine's clock. */
export interface AudioMessage {
  type: 'audio';
  at: number;
  streams: HeardStream[];
}

/** What was heard of one stream. Times are milliseconds since it opened. */
export interface HeardStream {
  stream: number;
  /** When it opened, on the axis of `at`. */
  openedAt: number;
  /** From when on it is heard: later than 0 if nobody looked before. */
  heardFromMs: number;
  voices: HeardVoice[];
  gaps: { startMs: number; endMs: number }[];
  /** What the voices did to each other, where that is known anew: it replaces what is marked from `fromMs` on. */
  turns?: { fromMs: number; marks: Mark[] };
}

export interface HeardVoice {
  voice: Direction;
  /** The first of these peaks; each is of `peakMs` of audio. */
  from: number;
  /** One byte for each peak, as base64. */
  peaks: string;
  /** From this peak on everything that was told before was dropped: nobody heard it. */
  cut?: number;
  /** Speech that began or ended; `endMs` is null while it lasts. */
  speech: { startMs: number; endMs: number | null }[];
}

/** Audio under one peak. */
export const peakMs = 20;

export interface StateMessage {
  type: 'state';
  at: number;
  state: EmulatorState;
  recordings: RecordingState[];
}

/** A recording that was made from the page, or that is replayed. */
export interface RecordingState {
  id: number;
  /** Undefined for the recording that the emulator replays. */
  stream: number | undefined;
  device: string;
  startedAt: string;
  durationMs: number;
  /** Undefined while it is recorded. */
  end?: 'stopped' | 'closed' | 'full' | 'failed';
  why?: string;
}

/** A fault of the catalogue, as a form shows it. */
export interface FaultForm {
  name: string;
  at: string;
  summary: string;
  fields: FaultField[];
}

export interface FaultField {
  name: string;
  kind: 'text' | 'number' | 'duration' | 'choice';
  help: string;
  /** As it is typed; empty if there is none. */
  fallback: string;
  choices?: string[];
}

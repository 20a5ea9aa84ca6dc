import type { EmulatorState } from '../protocol/control.ts';
import type { Direction } from '../recording/format.ts';
import type { ServeCounters } from '../report/serve-counters.ts';
import type { VerdictNews } from '../ui/verdict-model.ts';
import type { Mark } from './view-data.ts';

/** What the emulator sends to its page, as JSON lines, to each tab. */
export type PageMessage = Hello | EventsMessage | CountersMessage | AudioMessage | StateMessage;

/** What a run of verdicts sends to its page: first what it is, then what happens. */
export type VerdictMessage =
  | { type: 'verdicts'; version: string; command: 'check' | 'drill'; subject: string }
  | VerdictNews;

/** The first message. */
export interface Hello {
  type: 'hello';
  version: string;
  /** The service behind a proxy; undefined for an emulator. */
  target: string | undefined;
  /** The name of this emulator, if several are one service. */
  instance: string | undefined;
  /** The address of the emulator for the command line; undefined for its default. */
  baseUrl: string | undefined;
  curl: string;
  /** How far the emulator's clock was ahead of the machine's before the events that follow, milliseconds. */
  aheadMs: number;
  /** Paths of the control API, by operation. */
  paths: Record<string, string>;
  faults: readonly FaultForm[];
}

/** New events, each with its number. A missing number is an event that was lost. `entries`: entries of the journal. */
export interface EventsMessage {
  type: 'events';
  entries: unknown[];
}

/** What this emulator has done since it started: the journal does not have all events. */
export interface CountersMessage {
  type: 'counters';
  counters: ServeCounters;
}

/** What was heard since the last message. `at`: milliseconds since the emulator started, by the machine's clock. */
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
  /** When listening began: later than 0 if nobody was looking before. */
  heardFromMs: number;
  voices: HeardVoice[];
  gaps: { startMs: number; endMs: number }[];
  /** New marks of turn-taking: they replace the marks from `fromMs` on. */
  turns?: { fromMs: number; marks: Mark[] };
}

export interface HeardVoice {
  voice: Direction;
  /** The number of the first of these peaks; each covers `peakMs` of audio. */
  from: number;
  /** One byte for each peak, as base64. */
  peaks: string;
  /** From this peak on, what was sent before is dropped: nobody heard it. */
  cut?: number;
  /** Speech that started or ended; `endMs` is null while it lasts. */
  speech: { startMs: number; endMs: number | null }[];
}

/** Audio under one peak. */
export const peakMs = 20;

/** Stretches of speech of each voice, and gaps, that are kept of a stream: the newest. */
export const maxStretches = 2_000;

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
  /** Undefined while it is being recorded. */
  end?: 'stopped' | 'closed' | 'full' | 'failed';
  why?: string;
}

/** A fault from the catalogue, as a form shows it. */
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
  /** The default, as it would be typed; empty if there is none. */
  fallback: string;
  choices?: string[];
}

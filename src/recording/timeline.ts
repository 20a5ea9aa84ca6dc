import { createSpeechGate } from '../audio/speech-gate.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import type { Direction, WireAudio } from './format.ts';
import type { Recording } from './read-recording.ts';

/** A stretch of speech of one side, on the time axis. */
export interface Turn {
  voice: Direction;
  startMs: number;
  endMs: number;
  /** Of the AI: from the end of your turn to the begin of this one. Null where it answers none. */
  afterMs: number | null;
  /** Of yours: it begins while the AI speaks. */
  bargeIn: boolean;
}

/** AI audio that was late: whoever listened heard nothing meanwhile. */
export interface Gap {
  startMs: number;
  endMs: number;
}

/** What a picture of a recording shows. */
export interface Timeline {
  durationMs: number;
  turns: Turn[];
  gaps: Gap[];
}

const defaultSettleMs = 1_500;

/** Finds turns by level in both voices, and gaps by the times at which AI audio came. */
export function readTimeline({ audio, wire, manifest, durationMs }: Recording): Timeline {
  const spoken = (['out', 'in'] as const).flatMap((voice) => findSpeech(audio[voice], voice));
  const turns = spoken.sort((a, b) => a.startMs - b.startMs).map(relate);
  return { durationMs, turns, gaps: findGaps(wire, manifest?.settleMs ?? defaultSettleMs) };
}

type Speech = Pick<Turn, 'voice' | 'startMs' | 'endMs'>;

const chunkBytes = 64 * 1024;

function findSpeech(pcm: Buffer, voice: Direction): Speech[] {
  const gate = createSpeechGate();
  const found: Speech[] = [];
  let startMs = 0;
  for (let at = 0; at <= pcm.length; at += chunkBytes) {
    const isLast = at + chunkBytes > pcm.length;
    const events = [...gate.push(pcm.subarray(at, at + chunkBytes)), ...(isLast ? gate.end() : [])];
    for (const { type, atMs } of events) {
      if (type === 'speech-start') startMs = atMs;
      else found.push({ voice, startMs, endMs: atMs });
    }
  }
  return found;
}

function relate(speech: Speech, index: number, all: readonly Speech[]): Turn {
  const before = all.slice(0, index);
  const other = before.findLast(({ voice }) => voice !== speech.voice);
  const isNext = before.at(-1) === other;
  const answers = speech.voice === 'in' && isNext && other !== undefined && other.endMs <= speech.startMs;
  return {
    ...speech,
    afterMs: answers ? speech.startMs - other.endMs : null,
    bargeIn: speech.voice === 'out' && other !== undefined && other.endMs > speech.startMs,
  };
}

/** Silence between two messages of one reply: it stands where the next message was late. */
function findGaps(wire: Recording['wire'], settleMs: number): Gap[] {
  const received = wire.filter(
    (line): line is WireAudio => line.type === 'audio' && line.direction === 'in' && line.bytes > 0,
  );
  return received
    .slice(1)
    .map((line, index) => {
      const before = received[index] ?? line;
      return { startMs: msForBytes(before.at + before.bytes), endMs: msForBytes(line.at) };
    })
    .filter(({ startMs, endMs }) => endMs > startMs && endMs - startMs < settleMs);
}

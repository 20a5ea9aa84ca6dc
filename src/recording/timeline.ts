import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import { createTwoTracks } from '../audio/dialogue/two-tracks.ts';
import { createSpeechGate } from '../audio/speech-gate.ts';
import { createTurnTaking, isGap } from '../audio/turn-taking.ts';
import { defaultSettleMs, defaultWaitMs } from '../kernel/audio-limits.ts';
import type { Direction } from './format.ts';
import type { Recording } from './read-recording.ts';
import { replayVoices } from './replay.ts';
import { type RecordedTurn, relateTurns, type Speech } from './turns.ts';

/** Silence that a listener heard because AI audio was late. */
export interface Gap {
  startMs: number;
  endMs: number;
}

/** What is drawn of a recording. */
export interface Timeline {
  durationMs: number;
  turns: RecordedTurn[];
  gaps: Gap[];
}

/** Finds turns by the level of both voices, and gaps like a session does. */
export function readTimeline(recording: Recording): Timeline {
  const { audio, manifest, durationMs } = recording;
  const spoken = (['out', 'in'] as const).flatMap((voice) => findSpeech(audio[voice], voice));
  return {
    durationMs,
    turns: relateTurns(spoken),
    gaps: findGaps(recording, manifest?.settleMs ?? defaultSettleMs),
  };
}

/** Who spoke when, and how well they took turns: for a recording by its clips, like its session; for a call by its pauses. */
export function readDialogue(recording: Recording): Dialogue {
  const { events, summary } = recording;
  const session = events.find((event) => event.type === 'session');
  const tracks = createTwoTracks({ pace: session?.pace });
  replayVoices(recording, tracks);
  let startMs = 0;
  for (const event of events) {
    if (event.type !== 'turn') continue;
    if (event.state === 'start') startMs = event.atMs;
    else {
      const { turn, holdMs, atMs } = event;
      tracks.said({ turn, isTurn: holdMs === undefined, holdMs, startMs, endMs: atMs });
    }
  }
  return tracks.judge(summary?.dialogue?.rules.waitMs ?? defaultWaitMs);
}

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

function findGaps(recording: Recording, settleMs: number): Gap[] {
  const gaps: Gap[] = [];
  const turns = createTurnTaking({
    settleMs,
    onPair(pair) {
      if (isGap(pair)) gaps.push({ startMs: pair.at - pair.silenceMs, endMs: pair.at });
    },
  });
  replayVoices(recording, {
    sent: (pcm, t) => turns.sent(pcm, t),
    received: (_, t, bytes) => turns.received(bytes, t),
    interrupted: turns.interrupted,
  });
  turns.finishSpeech();
  return gaps;
}

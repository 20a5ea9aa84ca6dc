import type { Dialogue, ScriptedClip } from '../audio/dialogue/dialogue.ts';
import { createTwoTracks } from '../audio/dialogue/two-tracks.ts';
import { createSpeechGate } from '../audio/speech-gate.ts';
import { createTurnTaking, isGap } from '../audio/turn-taking.ts';
import { defaultWaitMs } from '../kernel/audio-limits.ts';
import { isInterruption, readServiceMessage } from '../protocol/messages.ts';
import { type Direction, isServiceText } from './format.ts';
import type { Recording } from './read-recording.ts';
import { type RecordedTurn, relateTurns, type Speech } from './turns.ts';

/** AI audio was late: a listener heard this silence. */
export interface Gap {
  startMs: number;
  endMs: number;
}

/** The contents of a picture of a recording. */
export interface Timeline {
  durationMs: number;
  turns: RecordedTurn[];
  gaps: Gap[];
}

const defaultSettleMs = 1_500;

/** Finds turns by the level of both voices, and gaps as a session does. */
export function readTimeline(recording: Recording): Timeline {
  const { audio, manifest, durationMs } = recording;
  const spoken = (['out', 'in'] as const).flatMap((voice) => findSpeech(audio[voice], voice));
  return {
    durationMs,
    turns: relateTurns(spoken),
    gaps: findGaps(recording, manifest?.settleMs ?? defaultSettleMs),
  };
}

/** Who spoke when, and how the two got on: of a recording as its session judged it, of a call by its pauses. */
export function readDialogue({ isCall, wire, audio, events, summary }: Recording): Dialogue {
  const tracks = createTwoTracks();
  if (isCall) {
    tracks.sent(audio.out, 0);
    tracks.received(audio.in, 0);
  }
  for (const line of wire) {
    if (isServiceText(line) && isInterruption(readServiceMessage(line.text))) tracks.interrupted(line.t);
    if (line.type !== 'audio') continue;
    const pcm = audio[line.direction].subarray(line.at, line.at + line.bytes);
    if (line.direction === 'out') tracks.sent(pcm, line.t);
    else tracks.received(pcm, line.t);
  }
  let startMs = 0;
  for (const event of events) {
    if (event.type !== 'turn') continue;
    if (event.state === 'start') startMs = event.atMs;
    else tracks.said({ turn: event.turn, ...holdOf(event), startMs, endMs: event.atMs });
  }
  return tracks.judge(summary?.dialogue?.rules.waitMs ?? defaultWaitMs);
}

function holdOf({ holdMs }: { holdMs?: number | undefined }): Pick<ScriptedClip, 'isTurn' | 'holdMs'> {
  return holdMs === undefined ? { isTurn: true } : { isTurn: false, holdMs };
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

function findGaps({ wire, audio }: Recording, settleMs: number): Gap[] {
  const gaps: Gap[] = [];
  const turns = createTurnTaking({
    settleMs,
    onPair(pair) {
      if (isGap(pair)) gaps.push({ startMs: pair.at - pair.silenceMs, endMs: pair.at });
    },
  });
  for (const line of wire) {
    if (isServiceText(line) && isInterruption(readServiceMessage(line.text))) turns.interrupted(line.t);
    if (line.type !== 'audio') continue;
    if (line.direction === 'in') turns.received(line.bytes, line.t);
    else turns.sent(audio.out.subarray(line.at, line.at + line.bytes), line.t);
  }
  turns.finishSpeech();
  return gaps;
}

import type { Dialogue } from '../audio/dialogue/dialogue.ts';
import { judgeDialogue } from '../audio/dialogue/judge-dialogue.ts';
import { measureSteps } from '../audio/dialogue/step-levels.ts';
import { createSpeechGate } from '../audio/speech-gate.ts';
import { createTurnTaking, isGap } from '../audio/turn-taking.ts';
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

/** Default of `--wait`, which a recording does not have. */
const waitMs = 10_000;
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

/** Who spoke when, and how the two got on. The script of a conversation is not in a recording: a turn ends after a pause. */
export function readDialogue({ audio, wire }: Recording): Dialogue {
  return judgeDialogue({
    user: measureSteps(audio.out),
    ai: measureSteps(audio.in),
    stops: wire.flatMap((line) =>
      isServiceText(line) && isInterruption(readServiceMessage(line.text)) ? [line.t] : [],
    ),
    waitMs,
  });
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
    if (isServiceText(line) && isInterruption(readServiceMessage(line.text))) turns.interrupted();
    if (line.type !== 'audio') continue;
    if (line.direction === 'in') turns.received(line.bytes, line.t);
    else turns.sent(audio.out.subarray(line.at, line.at + line.bytes), line.t);
  }
  turns.finishSpeech();
  return gaps;
}

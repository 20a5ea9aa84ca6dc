import { createLevelMeter } from '../audio/level.ts';
import { createServiceVoice, type VoiceSummary } from '../audio/verdict/service-voice.ts';
import type { VoiceFinding } from '../audio/verdict/voice-findings.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { isInterruption, readServiceMessage } from '../protocol/messages.ts';
import { isServiceText } from './format.ts';
import type { Recording } from './read-recording.ts';

/** What the judge of voices finds in the AI's audio of a recording. */
export interface RecordedVoice extends VoiceSummary {
  /** The first place of each kind on the time axis of the recording, where it has one. */
  moments: { t: number; kind: VoiceFinding; text: string }[];
}

const frameBytes = bytesForMs(20);

/** Judges the AI's audio as `stream` judges it while it arrives; that of a WAV as if it came in real time. */
export function judgeRecordedVoice(recording: Recording): RecordedVoice {
  const { isCall, wire, audio } = recording;
  const moments: RecordedVoice['moments'] = [];
  const voice = createServiceVoice(({ finding, remark, agoMs }, at) => {
    if (agoMs !== undefined) moments.push({ t: Math.max(0, at - agoMs), kind: finding, text: remark });
  });
  const meters = { out: createLevelMeter(), in: createLevelMeter() };
  const take = (direction: 'in' | 'out', at: number, bytes: number, t: number) => {
    const pcm = audio[direction].subarray(at, at + bytes);
    if (direction === 'out') voice.sent(pcm, meters.out(pcm), t);
    else if (pcm.length > 0) voice.received(pcm, meters.in(pcm), t);
  };
  for (let at = 0; isCall === true && at < Math.max(audio.in.length, audio.out.length); at += frameBytes) {
    take('out', at, frameBytes, (at / frameBytes) * 20);
    take('in', at, frameBytes, (at / frameBytes) * 20);
  }
  for (const line of wire) {
    if (isServiceText(line) && isInterruption(readServiceMessage(line.text))) voice.interrupted(line.t);
    if (line.type === 'audio') take(line.direction, line.at, line.bytes, line.t);
  }
  voice.end(endOf(recording));
  return { ...voice.summary(), moments };
}

/** After this time the last reply has ended by itself. */
const endMs = 1_500;

/** When the voice ended. Where the stream closed, or somebody stopped to record a call, its last sound is not cut off. */
function endOf({ isCall, wire, durationMs }: Recording): number {
  if (isCall) return durationMs;
  return wire.findLast(({ type }) => type === 'close')?.t ?? durationMs + endMs;
}

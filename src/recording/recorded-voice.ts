import { createServiceVoice, type VoiceSummary } from '../audio/verdict/service-voice.ts';
import type { VoiceFinding } from '../audio/verdict/voice-findings.ts';
import type { Recording } from './read-recording.ts';
import { replayVoices } from './replay.ts';

/** What the judge of voices finds in the AI's audio of a recording. */
export interface RecordedVoice extends VoiceSummary {
  /** The first place of each kind on the time axis of the recording, where it has one. */
  moments: { t: number; kind: VoiceFinding; text: string }[];
}

/** Judges the AI's audio as `stream` judges it while it arrives; that of a WAV as if it came in real time. */
export function judgeRecordedVoice(recording: Recording): RecordedVoice {
  const moments: RecordedVoice['moments'] = [];
  const voice = createServiceVoice(({ finding, remark, agoMs }, at) => {
    if (agoMs !== undefined) moments.push({ t: Math.max(0, at - agoMs), kind: finding, text: remark });
  });
  replayVoices(recording, {
    sent: voice.sent,
    received(pcm, t) {
      if (pcm.length > 0) voice.received(pcm, t);
    },
    interrupted: voice.interrupted,
  });
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

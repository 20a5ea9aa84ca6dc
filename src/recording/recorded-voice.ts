import { createServiceVoice, type VoiceSummary } from '../audio/verdict/service-voice.ts';
import type { VoiceFinding } from '../audio/verdict/voice-findings.ts';
import type { Recording } from './read-recording.ts';
import { replayVoices } from './replay.ts';

/** The judgement of the AI's audio in a recording. */
export interface RecordedVoice extends VoiceSummary {
  /** The first finding of each kind that has a place on the time axis of the recording. */
  moments: { t: number; kind: VoiceFinding; text: string }[];
}

/** Judges the AI's audio like `stream` does while it arrives; in a WAV as if it had arrived in real time. */
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

/** After this time without audio the last reply has ended by itself. */
const endMs = 1_500;

/** When the voice ended. At the close of the stream, or at the end of a call, the last sound does not count as cut off. */
function endOf({ isCall, wire, durationMs }: Recording): number {
  if (isCall) return durationMs;
  return wire.findLast(({ type }) => type === 'close')?.t ?? durationMs + endMs;
}

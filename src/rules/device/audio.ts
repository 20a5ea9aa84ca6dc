import { recogniseText } from '../../audio/verdict/audio-as-text.ts';
import { VoiceCheck, type VoiceVerdict } from '../../audio/verdict/voice-check.ts';
import { isWrongFormat, type VoiceFinding, voiceFindings } from '../../audio/verdict/voice-findings.ts';
import { bytesPerMs } from '../../protocol/audio-format.ts';
import { connectedKind } from '../../protocol/messages.ts';
import { secondsText } from '../../protocol/time-text.ts';
import type { JudgedVoice } from '../reply-audio.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, unknown, warn } from '../rule.ts';
import { audioOf, confirmationOf, deviceMessages, type SeenStream } from '../stream-seen.ts';
import { connections } from './device-seen.ts';

/** What a device sends after its token. */
export const audioRules: readonly Rule[] = [
  {
    id: 'D4',
    section: 'What the service does',
    title: 'sends no audio before the confirmation',
    says: `The service replies with a JSON message of kind ${connectedKind}; then both stream raw PCM audio.`,
    judge: (seen) => mostSevere(connections(seen).map(judgeStart)),
  },
  {
    id: 'D5',
    section: 'Audio format (both directions)',
    title: 'sends raw s16le mono 16 kHz in real time',
    says: 'Raw PCM, 16,000 Hz, 16-bit, 1 channel, little-endian, signed integer.',
    judge: (seen) => mostSevere(connections(seen).map(judgeSent)),
  },
];

function judgeStart(stream: SeenStream): Finding | undefined {
  const [audio] = audioOf(stream, 'device');
  const confirmed = confirmationOf(stream);
  if (audio === undefined)
    return confirmed === undefined ? undefined : pass('no audio before the confirmation', stream);
  if (confirmed === undefined) {
    const isOver = stream.exchange.end !== undefined;
    return fail(
      isOver
        ? 'audio was sent, but the stream was never confirmed'
        : 'audio was sent before the confirmation',
      stream,
    );
  }
  if (audio.at >= confirmed.at)
    return pass(`audio began ${secondsText(audio.at - confirmed.at, 1)} after the confirmation`, stream);
  return fail(`audio was sent ${secondsText(confirmed.at - audio.at, 1)} before the confirmation`, stream);
}

/**
 * Bounds of the pace, wider than those of the advice of `serve`: on a busy machine, messages that were sent apart may
 * arrive together.
 */
const slowest = 0.9;
const fastest = 1.1;
const longestGapMs = 1_000;
const leastMs = 2_000;

/** Fewer texts that look like audio may be about something else. */
const fewestTexts = 5;

/** How a device sends its audio, if it sends it as text. */
export function audioAsText(stream: SeenStream): string | undefined {
  const texts = deviceMessages(stream).flatMap((one) => ('text' in one ? [recogniseText(one.text)] : []));
  const kinds = texts.filter((kind) => kind !== undefined);
  const [kind] = kinds;
  return kind === undefined || kinds.length < fewestTexts ? undefined : voiceFindings[`${kind}-text`].device;
}

function judgeSent(stream: SeenStream): Finding | undefined {
  const messages = audioOf(stream, 'device');
  if (messages.length === 0) {
    const asText = audioAsText(stream);
    return asText === undefined ? undefined : fail(asText, stream);
  }
  let at = 0;
  const check = new VoiceCheck({ from: 'device', clock: { now: () => at }, isThorough: true });
  for (const message of messages) {
    at = message.at;
    check.push(message.data);
  }
  const audioMs = messages.reduce((sum, one) => sum + one.bytes, 0) / bytesPerMs;
  check.end();
  return judgeSentVoice(stream, { check, count: messages.length, audioMs });
}

/** What is known about the audio of a device. */
export interface SentVoice extends Pick<JudgedVoice, 'count' | 'audioMs'> {
  check: Pick<VoiceCheck, 'verdict'>;
}

/** D5 for a stream that was checked while its audio arrived. */
export function judgeSentVoice(stream: Seen, { check, count, audioMs }: SentVoice): Finding {
  const verdict = check.verdict();
  const wrong = verdict.findings.filter(isWrongFormat);
  const remarkOn = remarksOf(verdict);
  if (wrong.length > 0) return fail(wrong.map(remarkOn).join('; '), stream);
  const pace = judgePace(stream, verdict, { count, audioMs });
  if (pace !== undefined) return pace;
  const weak = verdict.findings.filter((finding) => isHeard.has(voiceFindings[finding].about));
  if (weak.length > 0) return warn(weak.map(remarkOn).join('; '), stream);
  return pass(
    `${secondsText(audioMs, 1)} of audio fit the format, at ${verdict.pace.timesRealTime} × real time`,
    stream,
  );
}

/** Topics of findings that do not concern the format but are worth a look. */
const isHeard: ReadonlySet<string> = new Set(['room', 'sound']);
const ofTheRate: readonly VoiceFinding[] = ['wrong-rate', 'too-fast', 'too-slow'];
/** Findings and remarks are in the same order. */
function remarksOf({ findings, remarks }: VoiceVerdict) {
  return (finding: VoiceFinding): string => remarks[findings.indexOf(finding)] ?? finding;
}

function judgePace(
  stream: Seen,
  verdict: VoiceVerdict,
  { count, audioMs }: { count: number; audioMs: number },
): Finding | undefined {
  const { timesRealTime, longestGapMs: gapMs, burstMessages } = verdict.pace;
  if (timesRealTime === null)
    return audioMs > 2 * leastMs
      ? fail(`${secondsText(audioMs, 1)} of audio arrived within ${leastMs / 1000} s`, stream)
      : unknown(`only ${secondsText(audioMs, 1)} of audio: too little to judge its pace`, stream);
  const wrong = ofTheRate.find((finding) => verdict.findings.includes(finding));
  if (wrong !== undefined && (timesRealTime > fastest || timesRealTime < slowest))
    return fail(remarksOf(verdict)(wrong), stream);
  if (verdict.findings.includes('bursts'))
    return fail(`${burstMessages} of ${count} messages came in bursts: spread them over time`, stream);
  return gapMs > longestGapMs
    ? warn(`a gap of ${secondsText(gapMs, 1)} between messages`, stream)
    : undefined;
}

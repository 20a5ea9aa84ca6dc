import { DeviceCheck, type DeviceFinding, type DeviceVerdict } from '../../audio/verdict/device-verdict.ts';
import { bytesPerMs } from '../../protocol/audio-format.ts';
import { connectedKind } from '../../protocol/messages.ts';
import { type Finding, fail, gravest, pass, type Rule, type Seen, unknown, warn } from '../rule.ts';
import { audioOf, type SeenStream } from '../stream-seen.ts';
import { confirmationOf, connections, secondsText } from './device-seen.ts';

/** What a device sends after its token. */
export const audioRules: readonly Rule[] = [
  {
    id: 'D4',
    section: 'What the service does',
    title: 'sends no audio before the confirmation',
    says: `The service replies with a JSON message of kind ${connectedKind}; then both stream raw PCM audio.`,
    judge: (seen) => gravest(connections(seen).map(judgeStart)),
  },
  {
    id: 'D5',
    section: 'Audio format (both directions)',
    title: 'sends raw s16le mono 16 kHz in real time',
    says: 'Raw PCM, 16,000 Hz, 16-bit, 1 channel, little-endian, signed integer.',
    judge: (seen) => gravest(connections(seen).map(judgeSent)),
  },
];

function judgeStart(stream: SeenStream): Finding | undefined {
  const [audio] = audioOf(stream, 'device');
  const confirmed = confirmationOf(stream);
  if (audio === undefined)
    return confirmed === undefined ? undefined : pass('nothing came before the confirmation', stream);
  if (confirmed === undefined) return fail('audio came, and the stream was never confirmed', stream);
  if (audio.at >= confirmed.at)
    return pass(`audio began ${secondsText(audio.at - confirmed.at)} after the confirmation`, stream);
  return fail(`audio came ${secondsText(confirmed.at - audio.at)} before the confirmation`, stream);
}

/** Of the room or the microphone, and not of the format. */
const ofTheRoom: readonly DeviceFinding[] = ['silence', 'quiet', 'clipping', 'dc-offset'];
/**
 * Bounds of the pace, wider than the advice of `serve`: the machine that measures may be busy, and then messages
 * arrive together that were sent apart.
 */
const slowest = 0.9;
const fastest = 1.1;
const longestGapMs = 1_000;
const leastMs = 2_000;

function judgeSent(stream: SeenStream): Finding | undefined {
  const messages = audioOf(stream, 'device');
  if (messages.length === 0) return undefined;
  let at = 0;
  const check = new DeviceCheck({ now: () => at });
  for (const message of messages) {
    at = message.at;
    check.push(message.data);
  }
  const audioMs = messages.reduce((sum, one) => sum + one.bytes, 0) / bytesPerMs;
  return judgeHeard(stream, { verdict: check.verdict(), count: messages.length, audioMs });
}

/** What a check has found in the audio of a device. */
export interface HeardAudio {
  verdict: DeviceVerdict;
  /** Messages, and how long they last. */
  count: number;
  audioMs: number;
}

/** D5 for a stream that was checked while its audio came. */
export function judgeHeard(stream: Seen, { verdict, count, audioMs }: HeardAudio): Finding {
  const wrong = verdict.findings.filter(isWrongFormat);
  const told = remarksOf(verdict);
  if (wrong.length > 0) return fail(wrong.map(told).join('; '), stream);
  const pace = judgePace(stream, verdict, { count, audioMs });
  if (pace !== undefined) return pace;
  const weak = verdict.findings.filter((finding) => ofTheRoom.includes(finding));
  if (weak.length > 0) return warn(weak.map(told).join('; '), stream);
  return pass(
    `${secondsText(audioMs)} of audio fit the format, at ${verdict.pace.timesRealTime} × real time`,
    stream,
  );
}

const ofTheRate: readonly DeviceFinding[] = ['wrong-rate', 'too-fast', 'too-slow'];
const ofThePace: readonly DeviceFinding[] = [...ofTheRate, 'bursts', 'gaps'];

/** Whether audio with this finding is not raw s16le mono 16 kHz. */
export function isWrongFormat(finding: DeviceFinding): boolean {
  return !ofThePace.includes(finding) && !ofTheRoom.includes(finding);
}

/** Findings and remarks stand in the same order. */
function remarksOf({ findings, remarks }: DeviceVerdict) {
  return (finding: DeviceFinding): string => remarks[findings.indexOf(finding)] ?? finding;
}

function judgePace(
  stream: Seen,
  verdict: DeviceVerdict,
  { count, audioMs }: { count: number; audioMs: number },
): Finding | undefined {
  const { timesRealTime, longestGapMs: gapMs, burstMessages } = verdict.pace;
  if (timesRealTime === null)
    return audioMs > 2 * leastMs
      ? fail(`${secondsText(audioMs)} of audio came within ${leastMs / 1000} s`, stream)
      : unknown(`only ${secondsText(audioMs)} of audio: too little to tell its pace`, stream);
  const wrong = ofTheRate.find((finding) => verdict.findings.includes(finding));
  if (wrong !== undefined && (timesRealTime > fastest || timesRealTime < slowest))
    return fail(remarksOf(verdict)(wrong), stream);
  if (verdict.findings.includes('bursts'))
    return fail(`${burstMessages} of ${count} messages came in bursts: spread them over time`, stream);
  return gapMs > longestGapMs ? warn(`a gap of ${secondsText(gapMs)} between messages`, stream) : undefined;
}

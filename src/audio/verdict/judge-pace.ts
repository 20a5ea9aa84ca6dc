import { sampleRate } from '../../protocol/audio-format.ts';
import { type PaceMeasure, round } from './span.ts';

export type PaceFinding = 'too-fast' | 'too-slow' | 'bursts' | 'gaps' | 'wrong-rate';

/** A finding, with text. `isDoubtful`: there is another explanation, which the text names. */
export interface JudgedPaceFinding {
  finding: PaceFinding;
  remark: string;
  isDoubtful?: true;
  /** What to do in each case, if there are two. */
  advice?: string;
}

/** Causes before symptoms. */
export type JudgedPace = JudgedPaceFinding[];

/** The pace that a side seems to have if it sends audio in these formats. */
const lookalikes: [times: number, format: string][] = [
  [48_000 / sampleRate, '48 kHz'],
  [44_100 / sampleRate, '44.1 kHz'],
  [2, '32 kHz, or 16 kHz stereo'],
  [24_000 / sampleRate, '24 kHz'],
  [22_050 / sampleRate, '22.05 kHz'],
  [12_000 / sampleRate, '12 kHz'],
  [11_025 / sampleRate, '11.025 kHz'],
  [0.5, '8 kHz'],
  [88_200 / sampleRate, '44.1 kHz stereo'],
  [96_000 / sampleRate, '48 kHz stereo'],
];
/** How far a pace may be from the one of a sample rate, and how well it must be known to distinguish such rates. */
const closeTo = 0.02;
const tellsApart = 0.04;
/** A pace within these bounds is real time: the clocks of devices differ, and messages are delayed. */
const slowest = 0.95;
const fastest = 1.05;
const longestQuietMs = 500;
/** An uneven pace is measured for at least this time: a delay may hide which rate it looks like. */
const unevenMs = 3_500;
/** A pace is fast in every part if each has half of the excess, or this much. */
const mostExcess = 0.1;
/** A pace that is still uncertain after this time is judged anyway. */
export const patientMs = 10_000;
/** A device sends in bursts if this share of its messages comes in bursts. Fewer may be the result of a delay. */
const burstShare = 0.8;

/** What is known about a voice besides its pace. */
export interface VoiceFacts {
  /** Bytes per sample of its format, relative to the right format. Default 1. */
  sizes?: number;
  /** By what factor the voice itself sounds too slow; undefined if it was not measured, or is not a voice. */
  scale?: number | undefined;
}

/**
 * Judges how a device sends. The rate is judged only if it is known well enough; if not, and more time would help, `isSure`
 * is false.
 */
export function judgePace(report: PaceMeasure, voice: VoiceFacts): { judged: JudgedPace; isSure: boolean } {
  const { timesRealTime, longestGapMs, burstMessages, messages } = report;
  if (timesRealTime === null) return { judged: [], isSure: false };
  const rate = judgeRate(report, timesRealTime, voice);
  const judged = rate === 'unsure' ? [] : rate;
  if (burstMessages >= messages * burstShare)
    judged.push({
      finding: 'bursts',
      remark: `${burstMessages} messages arrived in bursts: spread them over time`,
    });
  if (longestGapMs > longestQuietMs)
    judged.push({
      finding: 'gaps',
      remark: `a gap of ${Math.round(longestGapMs)} ms between messages`,
    });
  return { judged, isSure: rate !== 'unsure' };
}

function judgeRate(
  report: PaceMeasure,
  sent: number,
  { sizes = 1, scale }: VoiceFacts,
): JudgedPace | 'unsure' {
  const times = sent / sizes;
  if (isRealTime(sent, sent) || isRealTime(times, times)) return [];
  if (times < slowest) {
    // A gap explains a slow pace, and so does an emulator that did not run.
    if (report.longestGapMs > longestQuietMs) return [];
    if (isDelayed(report, times)) return 'unsure';
  }
  if (times > fastest && !isLasting(report.slowerPart / sizes, times))
    return report.passedMs < patientMs ? 'unsure' : [];
  if (times > fastest && !report.isEven && report.passedMs < unevenMs) return 'unsure';
  const { uncertainty } = report;
  const mayBeRealTime = (pace: number) => isRealTime(pace * (1 - uncertainty), pace * (1 + uncertainty));
  if (mayBeRealTime(sent) || mayBeRealTime(times)) return 'unsure';
  const lookalike = report.isEven ? findLookalike(times, Math.max(closeTo, 2 * uncertainty)) : undefined;
  const remark = `the device sends at ${round(times)} × real time`;
  if (lookalike === undefined) return [{ finding: times > 1 ? 'too-fast' : 'too-slow', remark }];
  if (uncertainty > tellsApart && report.passedMs < patientMs) return 'unsure';
  const [rate, format] = lookalike;
  if (agrees(scale, rate)) {
    const certain = `this looks like ${format} (${sent} × real time): send 16 kHz mono`;
    return [{ finding: 'wrong-rate', remark: certain }];
  }
  const inTime = 'one 640-byte message every 20 ms';
  const doubtful = `this looks like ${orToo(format, rate)} (${sent} × real time): send 16 kHz mono, ${inTime}`;
  const advice = `if it was recorded at 16 kHz, send ${inTime}; if not, resample it to 16 kHz mono`;
  return [{ finding: 'wrong-rate', remark: doubtful, isDoubtful: true, advice }];
}

/** With less time than the first, the rate of a reply is not judged; less than the second is not proof. */
const leastReplyMs = 1_500;
const provenReplyMs = 2_000;

/**
 * Judges the sample rate of a reply by its pace, if that is even. The specification promises no pace, so it proves nothing
 * without the voice.
 */
export function judgeReplyRate(
  { passedMs, times, isEven, slowerPart }: PaceMeasure,
  { sizes = 1, scale }: VoiceFacts,
): JudgedPaceFinding | undefined {
  const own = times / sizes;
  const lookalike = findLookalike(own, closeTo);
  if (passedMs < leastReplyMs || !isEven || lookalike === undefined) return undefined;
  if (isRealTime(times, times) || isRealTime(own, own)) return undefined;
  if (own > fastest && !isLasting(slowerPart / sizes, own)) return undefined;
  const [rate, format] = lookalike;
  const pace = `it arrives at ${round(own)} × real time`;
  if (passedMs >= provenReplyMs && agrees(scale, rate)) {
    const certain = `the service’s audio is ${format}: ${pace}, and the voice sounds ${offText(1 / rate)}`;
    return { finding: 'wrong-rate', remark: certain };
  }
  const remark = `the service’s audio is ${orToo(format, rate)}: ${pace}`;
  const ofPace =
    rate > 1
      ? 'devices must store what comes early, so send it in real time, or let devices buffer a whole reply'
      : 'playback runs dry, so send it in real time';
  const advice = `if the voice sounds ${offText(1 / rate)}, resample it to 16 kHz; if it sounds right, ${ofPace}`;
  return { finding: 'wrong-rate', remark, isDoubtful: true, advice };
}

/** Whether a reply arrives in real time for long enough, so that its pace shows that the rate is right. */
export function showsRightRate({ passedMs, times }: PaceMeasure): boolean {
  return passedMs >= leastReplyMs && isRealTime(times, times);
}

/** A voice must be off by this factor to be reported without evidence from its pace. */
const farOff = 1.85;

/** Judges the sample rate of a reply by the voice alone. */
export function judgeVoiceRate(scale: number | undefined): JudgedPaceFinding | undefined {
  if (scale === undefined || Math.max(scale, 1 / scale) < farOff) return undefined;
  const [, format] = closestLookalike(scale);
  const remark = `the service’s audio is ${format}, or an unusual voice: it sounds ${offText(1 / scale)}`;
  const isOff = `if it sounds ${offText(1 / scale)}, resample it to 16 kHz`;
  const advice = `listen to it: ${isOff}; if the voice should sound like that, it is fine`;
  return { finding: 'wrong-rate', remark, isDoubtful: true, advice };
}

/** How close the voice must be to the other rate (0: the right rate, 1: the other one), and how far from the right one. */
const agreement = 0.7;
const leastOff = 0.25;

/** Whether the voice itself sounds like this rate. */
function agrees(scale: number | undefined, rate: number): boolean {
  if (scale === undefined) return false;
  const off = Math.log(scale);
  return off / Math.log(rate) >= agreement && Math.abs(off) >= leastOff;
}

/** Both explanations of a pace: `24 kHz, or 16 kHz sent too fast`. */
function orToo(format: string, rate: number): string {
  return `${format.replace(', or', ',')}, or 16 kHz sent too ${rate > 1 ? 'fast' : 'slow'}`;
}

/** `1.5 × too fast`, `2 × too slow`. */
function offText(times: number): string {
  return times > 1 ? `${round(times)} × too fast` : `${round(1 / times)} × too slow`;
}

/** Whether both parts of the audio are fast. What was kept back comes at once, and the rest in real time: that is no pace. */
function isLasting(slowerPart: number, times: number): boolean {
  return slowerPart - 1 >= Math.min(mostExcess, (times - 1) / 2);
}

/** Whether a pace between these bounds may be real time. */
function isRealTime(low: number, high: number): boolean {
  return high >= slowest && low <= fastest;
}

/** Whether audio is missing because the emulator did not run, or because of long delays that may still be made up for. */
function isDelayed({ lostMs, lateMs, passedMs }: PaceMeasure, times: number): boolean {
  const missingMs = (1 - times) * passedMs;
  return (passedMs < patientMs ? Math.max(lostMs, lateMs) : lostMs) >= missingMs / 2;
}

/** The closest format, if it is within `tolerance`. */
function findLookalike(times: number, tolerance: number): [times: number, format: string] | undefined {
  const closest = closestLookalike(times);
  return Math.abs(times / closest[0] - 1) < tolerance ? closest : undefined;
}

function closestLookalike(times: number): [times: number, format: string] {
  const away = ([rate]: [number, string]) => Math.abs(Math.log(times / rate));
  return lookalikes.reduce((best, one) => (away(one) < away(best) ? one : best));
}

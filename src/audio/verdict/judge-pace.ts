import { sampleRate } from '../../protocol/audio-format.ts';
import { type PaceMeasure, round } from './span.ts';

export type PaceFinding = 'too-fast' | 'too-slow' | 'bursts' | 'gaps' | 'wrong-rate';

/** Findings with the same in words, cause before symptom. */
export type JudgedPace = { finding: PaceFinding; remark: string }[];

/** How many times too fast or too slow a device looks if it sends at these sample rates. */
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
/** How far a pace may be from that of a sample rate, and how well it must be known to tell such rates apart. */
const closeTo = 0.02;
const tellsApart = 0.04;
/** A pace within these bounds is real time: clocks of devices differ, and messages are delayed. */
const slowest = 0.95;
const fastest = 1.05;
const longestQuietMs = 500;
/** What is not sure after this time is judged as it looks. */
export const patientMs = 10_000;
/** A device sends in bursts if this share of its messages comes in them. Fewer are what a delay leaves behind. */
const burstShare = 0.8;

/**
 * Judges how a device sends. `sizes`: bytes per sample of its format, relative to the right one. The rate is judged
 * if it is known well enough; `isSure` is false if it is not, and more time would tell.
 */
export function judgePace(report: PaceMeasure, sizes: number): { judged: JudgedPace; isSure: boolean } {
  const { timesRealTime, longestGapMs, burstMessages, messages } = report;
  if (timesRealTime === null) return { judged: [], isSure: false };
  const rate = judgeRate(report, timesRealTime, sizes);
  const judged = rate === 'unsure' ? [] : rate;
  if (burstMessages >= messages * burstShare)
    judged.push({
      finding: 'bursts',
      remark: `${burstMessages} messages arrived in bursts: spread them over time`,
    });
  if (longestGapMs > longestQuietMs)
    judged.push({ finding: 'gaps', remark: `a gap of ${Math.round(longestGapMs)} ms between messages` });
  return { judged, isSure: rate !== 'unsure' };
}

function judgeRate(report: PaceMeasure, sent: number, sizes: number): JudgedPace | 'unsure' {
  const times = sent / sizes;
  if (isRealTime(sent, sent) || isRealTime(times, times)) return [];
  if (times < slowest) {
    // A gap explains why a device is slow, and so does an emulator that did not run.
    if (report.longestGapMs > longestQuietMs) return [];
    if (isDelayed(report, times)) return 'unsure';
  }
  const { uncertainty } = report;
  const mayBeRealTime = (pace: number) => isRealTime(pace * (1 - uncertainty), pace * (1 + uncertainty));
  if (mayBeRealTime(sent) || mayBeRealTime(times)) return 'unsure';
  const lookalike = findLookalike(times, Math.max(closeTo, 2 * uncertainty));
  if (lookalike === undefined)
    return [
      { finding: times > 1 ? 'too-fast' : 'too-slow', remark: `device sends ${round(times)} × real time` },
    ];
  if (uncertainty > tellsApart && report.passedMs < patientMs) return 'unsure';
  return [
    { finding: 'wrong-rate', remark: `this looks like ${lookalike}: ${sent} × real time; send 16 kHz mono` },
  ];
}

/** Whether a pace between these two may be real time. */
function isRealTime(low: number, high: number): boolean {
  return high >= slowest && low <= fastest;
}

/** Whether the audio is missing because the emulator did not run, or because of long delays, which may be made up for. */
function isDelayed({ lostMs, lateMs, passedMs }: PaceMeasure, times: number): boolean {
  const missingMs = (1 - times) * passedMs;
  return (passedMs < patientMs ? Math.max(lostMs, lateMs) : lostMs) >= missingMs / 2;
}

/** The format that is closest, of those within `tolerance`. */
function findLookalike(times: number, tolerance: number): string | undefined {
  const [rate = 1, format] = lookalikes.reduce((best, one) =>
    away(one, times) < away(best, times) ? one : best,
  );
  return Math.abs(times / rate - 1) < tolerance ? format : undefined;
}

function away([rate]: [number, string], times: number): number {
  return Math.abs(times / rate - 1);
}

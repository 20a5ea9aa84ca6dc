import { sampleRate } from '../../protocol/audio-format.ts';
import type { PaceReport } from './pace-check.ts';

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
const closeTo = 0.02;
/** A pace within these bounds is real time, measured over seconds on a busy machine. */
const slowest = 0.95;
const fastest = 1.05;
const longestQuietMs = 500;

/** Judges how a device sends. `sizes`: bytes per sample of its format, relative to the right one. */
export function judgePace(
  { timesRealTime, longestGapMs, burstMessages }: PaceReport,
  sizes: number,
): JudgedPace {
  if (timesRealTime === null) return [];
  const judged: JudgedPace = [];
  const hasGap = longestGapMs > longestQuietMs;
  judged.push(...judgeRate(timesRealTime, timesRealTime / sizes, hasGap));
  if (burstMessages > 0)
    judged.push({
      finding: 'bursts',
      remark: `${burstMessages} messages arrived in bursts: spread them over time`,
    });
  if (hasGap)
    judged.push({ finding: 'gaps', remark: `a gap of ${Math.round(longestGapMs)} ms between messages` });
  return judged;
}

/** `times`: corrected for the format. A gap explains why a device is slow. */
function judgeRate(sent: number, times: number, hasGap: boolean): JudgedPace {
  const isRealTime = (pace: number) => pace >= slowest && pace <= fastest;
  if (isRealTime(sent) || isRealTime(times) || (times < slowest && hasGap)) return [];
  const lookalike = lookalikes.find(([rate]) => Math.abs(times / rate - 1) < closeTo)?.[1];
  if (lookalike !== undefined)
    return [
      {
        finding: 'wrong-rate',
        remark: `this looks like ${lookalike}: ${sent} × real time; send 16 kHz mono`,
      },
    ];
  return [{ finding: times > 1 ? 'too-fast' : 'too-slow', remark: `device sends ${sent} × real time` }];
}

import { sampleRate } from '../protocol/audio-format.ts';
import { createPaceCheck, type PaceReport } from './pace-check.ts';
import { createPcmCheck, type PcmFinding } from './pcm-check.ts';

/** Something that a device does which the real service may not put up with. */
export type DeviceFinding =
  | PcmFinding
  | 'odd-sizes'
  | 'too-fast'
  | 'too-slow'
  | 'bursts'
  | 'gaps'
  | 'wrong-rate';

/** What the emulator has to say to the developer of a device. */
export interface DeviceVerdict {
  pace: PaceReport;
  findings: DeviceFinding[];
  /** The same in words, most useful first; empty where all is well. */
  remarks: string[];
}

/** Judges what one device sends. */
export interface DeviceCheck {
  /** Takes a message as it came; returns what was found for the first time. */
  push(message: Buffer, now: number): readonly { finding: DeviceFinding; remark: string }[];
  verdict(): DeviceVerdict;
}

const remarks: Record<PcmFinding | 'odd-sizes', string> = {
  'riff-header': 'the stream begins with a WAV header, which is heard as a click: send the samples alone',
  'swapped-bytes': 'the bytes of each sample are swapped: send little-endian',
  stereo: 'this looks like stereo: send one channel',
  clipping: 'the audio clips: lower the gain',
  'dc-offset': 'the samples are not centred on zero: remove the DC offset',
  silence: 'nothing but silence for 5 s: is the microphone on?',
  'odd-sizes': 'messages end within a sample: send whole samples',
};

/** Formats whose samples, sent as they are, make a device look this many times too fast. */
const lookalikes: [times: number, format: string][] = [
  [44_100 / sampleRate, '44.1 kHz'],
  [48_000 / sampleRate, '48 kHz'],
  [88_200 / sampleRate, '44.1 kHz stereo'],
  [96_000 / sampleRate, '48 kHz stereo'],
  [2, '32 kHz, or 16 kHz stereo'],
  [0.5, '8 kHz'],
];
const closeTo = 0.02;
/** Pace within these is real time, measured over seconds on a machine that does other things too. */
const slowest = 0.95;
const fastest = 1.05;
const longestQuietMs = 500;

/** For nearly every message: nothing is made for it. */
const nothing: readonly never[] = [];

export function createDeviceCheck(): DeviceCheck {
  const pcm = createPcmCheck();
  const pace = createPaceCheck();
  const found = new Set<PcmFinding | 'odd-sizes'>();
  return {
    push(message, now) {
      pace.push(message.length, now);
      const ofSamples = pcm.push(message);
      const isOdd = message.length % 2 === 1 && !found.has('odd-sizes');
      if (ofSamples.length === 0 && !isOdd) return nothing;
      const findings: (PcmFinding | 'odd-sizes')[] = [...ofSamples, ...(isOdd ? ['odd-sizes' as const] : [])];
      for (const finding of findings) found.add(finding);
      return findings.map((finding) => ({ finding, remark: remarks[finding] }));
    },
    verdict() {
      const report = pace.report();
      const timing = judgePace(report);
      return {
        pace: report,
        findings: [...timing.map(([finding]) => finding), ...found],
        remarks: [...timing.map(([, remark]) => remark), ...[...found].map((finding) => remarks[finding])],
      };
    },
  };
}

function judgePace({ timesRealTime, longestGapMs, burstMessages }: PaceReport): [DeviceFinding, string][] {
  if (timesRealTime === null) return [];
  const judged: [DeviceFinding, string][] = [];
  const lookalike = lookalikes.find(([times]) => Math.abs(timesRealTime / times - 1) < closeTo);
  const isOff = timesRealTime < slowest || timesRealTime > fastest;
  if (isOff)
    judged.push([timesRealTime > 1 ? 'too-fast' : 'too-slow', `device sends ${timesRealTime} × real time`]);
  if (lookalike !== undefined)
    judged.push(['wrong-rate', `this looks like ${lookalike[1]}: send 16 kHz mono`]);
  if (burstMessages > 0)
    judged.push(['bursts', `${burstMessages} messages came in bursts: spread them over time`]);
  if (longestGapMs > longestQuietMs)
    judged.push(['gaps', `a gap of ${Math.round(longestGapMs)} ms between messages`]);
  return judged;
}

import type { Clock } from '../../kernel/clock.ts';
import { sampleRate } from '../../protocol/audio-format.ts';
import { LatestLevel } from '../latest-level.ts';
import { PaceCheck, type PaceReport } from './pace-check.ts';
import { PcmCheck, type PcmFinding } from './pcm-check.ts';

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

/** Judges what one device sends. A class, as all that every frame passes: see ARCHITECTURE.md. */
export class DeviceCheck {
  /** How loud the device is. */
  readonly level: LatestLevel;
  private readonly clock: Pick<Clock, 'now'>;
  private readonly pace = new PaceCheck();
  private readonly pcm = new PcmCheck();
  private readonly found = new Set<PcmFinding | 'odd-sizes'>();

  /** @param clock The machine's. */
  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
    this.level = new LatestLevel(clock);
  }

  /** Takes a message as it came; returns what was found for the first time. */
  push(message: Buffer): readonly { finding: DeviceFinding; remark: string }[] {
    this.level.note(message);
    this.pace.push(message.length, this.clock.now());
    const ofSamples = this.pcm.push(message);
    const isOdd = message.length % 2 === 1 && !this.found.has('odd-sizes');
    if (ofSamples.length === 0 && !isOdd) return nothing;
    const findings: (PcmFinding | 'odd-sizes')[] = [...ofSamples, ...(isOdd ? ['odd-sizes' as const] : [])];
    for (const finding of findings) this.found.add(finding);
    return findings.map((finding) => ({ finding, remark: remarks[finding] }));
  }

  verdict(): DeviceVerdict {
    const report = this.pace.report();
    const timing = judgePace(report);
    return {
      pace: report,
      findings: [...timing.map(([finding]) => finding), ...this.found],
      remarks: [...timing.map(([, remark]) => remark), ...[...this.found].map((finding) => remarks[finding])],
    };
  }
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

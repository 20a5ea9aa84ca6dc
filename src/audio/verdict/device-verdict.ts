import type { Clock } from '../../kernel/clock.ts';
import { LatestLevel } from '../latest-level.ts';
import { type JudgedPace, judgePace, type PaceFinding, patientMs } from './judge-pace.ts';
import { type LostTime, PaceCheck } from './pace-check.ts';
import { PcmCheck, type PcmFinding } from './pcm-check.ts';
import { formatSizes } from './recognise-format.ts';
import type { PaceMeasure, PaceReport } from './span.ts';

/** A mistake of a device that the real service may not tolerate. */
export type DeviceFinding = PcmFinding | PaceFinding | 'odd-sizes' | 'base64-text' | 'json-text';

/** The emulator's advice to the developer of a device. */
export interface DeviceVerdict {
  pace: PaceReport;
  findings: DeviceFinding[];
  /** The same in words, most useful first; empty if all is well. */
  remarks: string[];
}

const remarks: Record<Exclude<DeviceFinding, PaceFinding>, string> = {
  'riff-header': 'the stream begins with a WAV header, which is heard as a click: send the samples alone',
  compressed: 'this is compressed audio or a file of it (Ogg, MP3, AAC, FLAC, WebM): send raw PCM',
  base64: 'the binary messages hold base64: send the bytes themselves',
  json: 'the binary messages hold JSON: send the bytes of the audio themselves',
  'base64-text': 'audio comes as base64 in text messages: send the bytes as binary messages',
  'json-text': 'audio comes as JSON in text messages: send the bytes as binary messages',
  float32: 'this looks like 32-bit float: send 16-bit integers',
  int32: 'this looks like 32-bit integers: send 16-bit ones',
  'half-empty':
    'every other sample is zero, as in 32-bit samples or stereo with a silent channel: send 16-bit mono',
  int24: 'this looks like 24-bit integers: send 16-bit ones',
  'unsigned-16': 'this looks like unsigned 16-bit audio: subtract 32768 from each sample',
  'unsigned-8': 'this looks like unsigned 8-bit audio: send 16-bit integers',
  'signed-8': 'this looks like signed 8-bit audio: send 16-bit integers',
  mulaw: 'this looks like G.711 µ-law: decode it to 16-bit integers',
  alaw: 'this looks like G.711 A-law: decode it to 16-bit integers',
  'swapped-bytes': 'the bytes of each sample are swapped: send little-endian',
  'byte-shift': 'the samples are shifted by one byte: an odd number of bytes precedes them',
  stereo: 'this looks like stereo: send one channel',
  clipping: 'the audio clips: lower the gain',
  'dc-offset': 'the samples are not centred on zero: remove the DC offset',
  silence: 'nothing but silence for 5 s: is the microphone on?',
  quiet: 'nothing louder than -40 dBFS for 5 s: raise the gain of the microphone',
  'odd-sizes': 'messages end within a sample: send whole samples',
};

/** Interval at which the pace is judged. */
const judgeEveryMs = 2_000;

/** Shared result for messages without findings, so that most messages create nothing. */
const nothing: readonly never[] = [];

type Found = Exclude<DeviceFinding, PaceFinding>;

/** Judges what one device sends. A class, because every frame passes it: see ARCHITECTURE.md. */
export class DeviceCheck {
  /** The level of the device. */
  readonly level: LatestLevel;
  /** Whether it is time for `judgePace`. */
  isDue = false;
  private readonly clock: Pick<Clock, 'now'>;
  private readonly pace: PaceCheck;
  private readonly pcm = new PcmCheck();
  private readonly found = new Set<Found>();
  /** Whole milliseconds; −1 before the first message. */
  private nextJudgeAt = -1;
  /** The last reported pace, and the result of the previous interval. */
  private told: string | undefined;
  private seen = '';

  /** @param clock The machine's. */
  constructor(clock: Pick<Clock, 'now'>, own: LostTime = { lostMs: 0 }) {
    this.clock = clock;
    this.pace = new PaceCheck(own);
    this.level = new LatestLevel(clock);
  }

  /** Takes a message; returns new findings. */
  push(message: Buffer): readonly { finding: DeviceFinding; remark: string }[] {
    const now = this.clock.now();
    const ms = Math.round(now);
    this.level.note(message);
    this.pace.push(message.length, now);
    if (this.nextJudgeAt < 0) this.nextJudgeAt = ms + judgeEveryMs;
    else if (ms >= this.nextJudgeAt) this.isDue = true;
    const ofSamples = this.pcm.push(message, ms);
    const isOdd = message.length % 2 === 1 && !this.found.has('odd-sizes');
    if (ofSamples.length === 0 && !isOdd) return nothing;
    const findings: Found[] = [...ofSamples, ...(isOdd ? ['odd-sizes' as const] : [])];
    return findings.flatMap((finding) => this.note(finding));
  }

  /** Records a finding from outside binary messages; returns it if it is new. */
  note(finding: Found): readonly { finding: DeviceFinding; remark: string }[] {
    if (this.found.has(finding)) return nothing;
    this.found.add(finding);
    return [{ finding, remark: remarks[finding] }];
  }

  /**
   * The verdict on the recent pace if it has changed: the first one at once, each later one when seen twice. If late
   * messages leave it open, it is judged over a longer time.
   */
  judgePace(): DeviceVerdict | undefined {
    this.isDue = false;
    this.nextJudgeAt = Math.round(this.clock.now()) + judgeEveryMs;
    const report = this.pace.latestReport();
    const { judged, isSure } = judgePace(report, this.sizes());
    if (isSure || report.passedMs >= patientMs) this.pace.forget();
    if (!isSure && judged.length === 0) return undefined;
    const now = judged.map(({ finding, remark }) => finding + rateOf(remark)).join();
    const isNew = this.told === undefined || (now !== this.told && now === this.seen);
    this.seen = now;
    if (!isNew) return undefined;
    this.told = now;
    return verdictOf(report, judged, []);
  }

  verdict(): DeviceVerdict {
    const report = this.pace.report();
    return verdictOf(report, judgePace(report, this.sizes()).judged, [...this.found]);
  }

  /** Bytes per sample of the detected format, relative to the right one. */
  private sizes(): number {
    for (const finding of this.found) {
      const sizes = formatSizes[finding];
      if (sizes !== undefined) return sizes;
    }
    return 1;
  }
}

/** A verdict on the rate without its figure, which varies, for comparison. */
function rateOf(remark: string): string {
  return /looks like ([^:]+)/.exec(remark)?.[1] ?? '';
}

/** Cause before symptom: the format of the samples, then their timing. */
function verdictOf(measure: PaceMeasure, judged: JudgedPace, found: Found[]): DeviceVerdict {
  const { timesRealTime, meanJitterMs, longestGapMs, burstMessages } = measure;
  return {
    pace: { timesRealTime, meanJitterMs, longestGapMs, burstMessages },
    findings: [...found, ...judged.map(({ finding }) => finding)],
    remarks: [...found.map((finding) => remarks[finding]), ...judged.map(({ remark }) => remark)],
  };
}

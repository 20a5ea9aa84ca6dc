import { VoiceCheck } from '../../src/audio/verdict/voice-check.ts';
import type { VoiceFinding } from '../../src/audio/verdict/voice-findings.ts';
import { replyFormats } from '../../src/protocol/faults.ts';
import { createFaults } from '../../src/service/faults/faults.ts';
import { createFaultyAudio } from '../../src/service/faults/faulty-audio.ts';
import { createRandom } from '../../src/service/random.ts';
import { createManualClock } from './manual-clock.ts';

const frameBytes = 640;
const frameMs = 20;

interface HeardReply {
  /** As `--fault` is written. */
  fault?: string | undefined;
  /** What the user says before each reply. */
  user?: Buffer | undefined;
  /** How often the reply is said. */
  replies?: number | undefined;
}

/** What is found in a reply that is sent at real time through a fault, on a clock that is moved. */
export function hearReply(pcm: Buffer, { fault, user = Buffer.alloc(0), replies = 1 }: HeardReply = {}) {
  const clock = createManualClock();
  const check = new VoiceCheck({ from: 'service', clock, isThorough: true });
  const faults = createFaults({
    initial: fault === undefined ? [] : [fault],
    random: createRandom(1),
    events: { emit() {} } as unknown as Parameters<typeof createFaults>[0]['events'],
  });
  const out = {
    send(message: Buffer) {
      check.push(message);
      if (check.isDue) check.judgePace();
    },
  };
  const audio = createFaultyAudio({ faults, subject: { device: 'd1', stream: 1 }, clock, out });
  for (let reply = 0; reply < replies; reply += 1) {
    for (let at = 0; at < user.length; at += frameBytes) {
      const frame = user.subarray(at, at + frameBytes);
      check.otherSaid(frame);
      audio.hear(frame);
      clock.advance(frameMs);
    }
    clock.advance(900);
    for (let at = 0; at < pcm.length; at += frameBytes) {
      audio.send(pcm.subarray(at, at + frameBytes));
      clock.advance(frameMs);
    }
    clock.advance(2_000);
  }
  check.end();
  audio.close();
  return { judgements: check.judgements(), unjudged: check.unjudged };
}

interface SoundFault {
  kind: VoiceFinding;
  /** Three that leave a trace, weakest first. */
  strengths: readonly string[];
  replies?: number;
  /** Whether it needs a turn of the user. */
  isTurn?: boolean;
  /** A format has no strength, but it is told by the voice: so much softer than it was recorded, in decibels. */
  softerDb?: readonly number[];
}

/** The faults that a listener hears, and what each is named. */
export const soundFaults: readonly SoundFault[] = [
  {
    kind: 'click',
    strengths: ['clicks:every=500ms,db=-14', 'clicks:every=1s,db=-10', 'clicks:every=1s,db=-6'],
  },
  {
    kind: 'dropout',
    strengths: [
      'dropouts:every=1s,for=20ms',
      'dropouts:every=500ms,for=10ms',
      'dropouts:every=500ms,for=60ms',
    ],
  },
  { kind: 'repeat', strengths: ['duplicate:probability=0.2', 'duplicate:probability=0.5', 'duplicate'] },
  { kind: 'clipping', strengths: ['clipped:gain=10', 'clipped:gain=20', 'clipped:gain=30'] },
  { kind: 'cut-off', strengths: ['cut-off:after=1500ms', 'cut-off:after=2500ms', 'cut-off:after=2s'] },
  { kind: 'noise', strengths: ['hum:db=-34', 'hum:db=-30', 'hum:db=-25'] },
  { kind: 'narrow-band', strengths: ['narrow-band:hz=3400', 'narrow-band:hz=3000', 'narrow-band:hz=2500'] },
  { kind: 'quiet-voice', strengths: ['level:db=-22', 'level:db=-25', 'level:db=-30'] },
  {
    kind: 'level-jump',
    strengths: ['level:db=-11,skip=1', 'level:db=-12,skip=1', 'level:db=-13,skip=1'],
    replies: 2,
  },
  {
    kind: 'user-echo',
    strengths: [
      'user-echo:delay=400ms,db=-30',
      'user-echo:delay=80ms,db=-24',
      'user-echo:delay=150ms,db=-12',
    ],
    isTurn: true,
  },
  { kind: 'wrong-rate', strengths: ['wrong-rate:rate=32000', 'wrong-rate:rate=48000', 'wrong-rate'] },
  { kind: 'swapped-bytes', strengths: ['swapped-bytes'], softerDb: [0, 6, 12] },
  // The emulator's fault of each format is named like the finding.
  ...replyFormats.map((kind) => ({ kind, strengths: [`format:as=${kind}`], softerDb: [0, 6, 12] })),
];

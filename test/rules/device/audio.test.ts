import { expect, test } from 'vitest';
import { isWrongFormat, type VoiceFinding } from '../../../src/audio/verdict/voice-findings.ts';
import { judgeSentVoice, type SentVoice } from '../../../src/rules/device/audio.ts';
import { connects, seenAs } from '../../helpers/device-exchanges.ts';
import { tellFinding } from '../../helpers/service-exchanges.ts';

interface Heard {
  findings?: VoiceFinding[];
  timesRealTime?: number | null;
  longestGapMs?: number;
  audioMs?: number;
}

/** What D5 says of audio with these findings. */
function judge({ findings = [], timesRealTime = 1, longestGapMs = 20, audioMs = 4_000 }: Heard) {
  const [stream] = seenAs(connects());
  const verdict = {
    pace: { timesRealTime, meanJitterMs: 0, longestGapMs, burstMessages: 12 },
    findings,
    remarks: findings.map((finding) => `its ${finding}`),
  };
  const heard: SentVoice = { check: { verdict: () => verdict }, count: 200, audioMs };
  return tellFinding(judgeSentVoice(stream!, heard));
}

const fits = (pace: number) => `pass: 4.0 s of audio fit the format, at ${pace} × real time (X1)`;

test.each<[string, string, Heard]>([
  ['audio without a finding', fits(1), {}],
  ['another format', 'fail: its stereo (X1)', { findings: ['stereo'] }],
  [
    'another format beside findings of other kinds',
    'fail: its mulaw; its odd-sizes (X1)',
    { findings: ['quiet', 'mulaw', 'too-fast', 'odd-sizes'], timesRealTime: 2 },
  ],
  ['a pace that is too fast', 'fail: its too-fast (X1)', { findings: ['too-fast'], timesRealTime: 1.11 }],
  ['a pace at the upper bound', fits(1.1), { findings: ['too-fast'], timesRealTime: 1.1 }],
  ['a pace that is too slow', 'fail: its too-slow (X1)', { findings: ['too-slow'], timesRealTime: 0.89 }],
  ['a pace at the lower bound', fits(0.9), { findings: ['too-slow'], timesRealTime: 0.9 }],
  ['another rate', 'fail: its wrong-rate (X1)', { findings: ['silence', 'wrong-rate'], timesRealTime: 3 }],
  ['bursts', 'fail: 12 of 200 messages came in bursts: spread them over time (X1)', { findings: ['bursts'] }],
  ['a gap of a second', fits(1), { findings: ['gaps'], longestGapMs: 1_000 }],
  ['a longer gap', 'warn: a gap of 1.0 s between messages (X1)', { findings: ['gaps'], longestGapMs: 1_001 }],
  [
    'findings of the room',
    'warn: its quiet; its clipping; its dc-offset (X1)',
    { findings: ['gaps', 'quiet', 'clipping', 'dc-offset'] },
  ],
  [
    'no pace in four seconds of audio',
    'unknown: only 4.0 s of audio: too little to judge its pace (X1)',
    { timesRealTime: null },
  ],
  [
    'no pace in more',
    'fail: 4.1 s of audio arrived within 2 s (X1)',
    { timesRealTime: null, audioMs: 4_100 },
  ],
])('%s: %s', (_what, found, heard) => {
  expect(judge(heard)).toBe(found);
});

test.each<[VoiceFinding, boolean]>([
  ['stereo', true],
  ['odd-sizes', true],
  ['base64-text', true],
  ['silence', false],
  ['clipping', false],
  ['bursts', false],
  ['gaps', false],
  ['wrong-rate', false],
  ['too-slow', false],
])('%s concerns the format: %s', (finding, isOfTheFormat) => {
  expect(isWrongFormat(finding)).toBe(isOfTheFormat);
});

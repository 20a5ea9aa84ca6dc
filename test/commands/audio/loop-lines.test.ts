import { describe, expect, test } from 'vitest';
import { loopLines } from '../../../src/commands/audio/run.ts';

const good = {
  input: 'pulse',
  output: 'pulse',
  level: { rmsDbfs: -24, peakDbfs: -9, clipped: false },
  noiseDbfs: -62,
  loopMs: 84,
};

describe('the result of a test of both devices', () => {
  test('is the level, the noise and the delay', () => {
    expect(loopLines(good)).toEqual([
      'input    through pulse',
      'output   through pulse',
      'level    -24.0 dBFS, peak -9.0 dBFS',
      'noise    -62.0 dBFS',
      'loop     84 ms from the loudspeaker to the microphone',
    ]);
  });

  test.each([
    ['too quiet', { level: { rmsDbfs: -50, peakDbfs: -41, clipped: false } }, /too quiet: speak up/],
    ['clipping', { level: { rmsDbfs: -6, peakDbfs: 0, clipped: true } }, /clipped: turn the microphone down/],
    ['silent', { level: { rmsDbfs: -100, peakDbfs: -100, clipped: false } }, /digital silence/],
    ['noisy', { noiseDbfs: -38 }, /noise +-38\.0 dBFS: loud/],
    ['not heard', { loopMs: undefined }, /did not hear the loudspeaker/],
  ])('says that the microphone is %s', (_, found, expected) => {
    expect(loopLines({ ...good, ...found }).join('\n')).toMatch(expected);
  });
});

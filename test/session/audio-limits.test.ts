import { expect, test } from 'vitest';
import { expectFileSchema } from '../../src/config/expect-file.ts';
import { limitSetting } from '../../src/config/options/expectation.ts';
import { flagOf, optionsOf } from '../../src/config/options.ts';
import { audioLimitNames, audioLimits } from '../../src/kernel/audio-limits.ts';
import { failureKinds } from '../../src/kernel/failure-kind.ts';
import { judgeExpectedAudio } from '../../src/session/expectations.ts';

const nothing = {
  in: { bytes: 0, audioMs: 0 },
  audibleMs: 0,
  firstAudioMs: null,
  longestGapMs: null,
  jitterMs: null,
};

test('there are limits', () => {
  expect(audioLimitNames).toContain('max-gap');
});

test.each(audioLimitNames)(
  '%s is a flag of stream, a key of a conversation and its turns, a verdict and a kind of failure',
  (name) => {
    expect(flagOf(limitSetting(name))).toBe(`--${name}`);
    expect(optionsOf('stream')).toContain(limitSetting(name));
    const file = { turns: [{ [name]: '1s' }], [name]: '2s' };
    expect(expectFileSchema.parse(file)).toMatchObject({ turns: [{ [name]: 1_000 }], [name]: 2_000 });
    expect(failureKinds).toHaveProperty(audioLimits[name].kind);
    const limit = name === 'max-audio' ? -1 : 5;
    expect(judgeExpectedAudio({ [name]: limit }, nothing)).toMatchObject([
      { name, ok: false, kind: audioLimits[name].kind },
    ]);
  },
);

test('a limit that only a pause of this process may have broken is not judged', () => {
  const late = { ...nothing, in: { bytes: 640, audioMs: 20 }, firstAudioMs: 1_500, longestGapMs: 900 };
  const judge = ([firstAudioMs, longestGapMs]: readonly [number, number]) => {
    const pausedMs = { firstAudioMs, longestGapMs, jitterMs: 0 };
    return judgeExpectedAudio({ 'max-first-audio': 1_000, 'max-gap': 100 }, { ...late, pausedMs }).map(
      ({ ok, skipped, measured }) => [ok, skipped, measured],
    );
  };
  for (const pauses of [
    [0, 0],
    [0, 600],
    [400, 0],
  ] as const)
    expect(judge(pauses)).toEqual([
      [false, undefined, '1500 ms'],
      [false, undefined, '900 ms'],
    ]);
  expect(judge([600, 600])).toEqual([
    [true, true, 'not judged: 1500 ms, but this process did not run for 600 ms'],
    [false, undefined, '900 ms'],
  ]);
});

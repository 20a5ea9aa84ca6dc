import { expect, test } from 'vitest';
import { measureLevel } from '../../src/audio/level.ts';
import { voiceMatchers } from '../../src/audio/matchers.ts';
import { speechPcm } from '../helpers/device-audio.ts';

const { toHaveSaid, toHaveLevel, toHaveDuration } = voiceMatchers;
const tone = Buffer.alloc(32_000);
for (let at = 0; at < 16_000; at += 1) tone.writeInt16LE(Math.round(16_384 * Math.sin(at / 5)), 2 * at);

test('a sound is PCM, an object with PCM, or the name of an included file', async () => {
  expect(await toHaveSaid(speechPcm, { pcm: speechPcm })).toMatchObject({ pass: true });
  expect(await toHaveSaid({ pcm: new Uint8Array(speechPcm) }, 'question.wav')).toMatchObject({ pass: true });
});

test('PCM may be samples', async () => {
  const samples = new Int16Array(new Uint8Array(tone).buffer);
  for (const sound of [samples, { pcm: samples }])
    expect(await toHaveDuration(sound, 1_000, { withinMs: 0 })).toMatchObject({ pass: true });
  expect(await toHaveSaid(tone, samples)).toMatchObject({ pass: true });
});

test.each([undefined, Number.NaN, '1000', -1])('a duration of %s is refused', async (ms) => {
  await expect(toHaveDuration(tone, ms as number)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^Invalid toHaveDuration options: ms /),
  });
});

test('other speech is refused with the figures', async () => {
  const { pass, message } = await toHaveSaid(speechPcm, 'hello.wav');
  expect(pass).toBe(false);
  expect(message()).toMatch(
    /^expected the audio \(3\.88 s\) to have said hello\.wav: the best match has a similarity of \d+ %, and 80 % is required$/,
  );
  expect(await toHaveSaid(speechPcm, 'hello.wav', { similarity: 0.01 })).toMatchObject({ pass: true });
});

test.each([
  [{ minRmsDbfs: -10, maxRmsDbfs: -8 }, true],
  [{ minPeakDbfs: -7, maxPeakDbfs: -6 }, true],
  [{ minRmsDbfs: -8 }, false],
  [{ maxRmsDbfs: -20 }, false],
  [{ minPeakDbfs: -5 }, false],
  [{ maxPeakDbfs: -7 }, false],
])('the level of a tone at half scale is within %j: %s', async (bounds, pass) => {
  const result = await toHaveLevel(tone, bounds);
  expect(result.pass).toBe(pass);
  expect(result.message()).toContain('an RMS of -9.0 dBFS and a peak of -6.0 dBFS');
});

test.each([
  [1_000, undefined, true],
  [1_099, undefined, true],
  [1_100, undefined, true],
  [900, undefined, true],
  [899, undefined, false],
  [1_101, undefined, false],
  [1_050, 20, false],
])('a second of audio lasts %d ms, ± %s ms: %s', async (ms, withinMs, pass) => {
  expect(await toHaveDuration(tone, ms, withinMs === undefined ? {} : { withinMs })).toMatchObject({ pass });
});

test('an unexpected duration is reported, and so is a match that should not be', async () => {
  expect((await toHaveDuration(tone, 1_200)).message()).toBe(
    'expected the audio to last 1200 ms ± 100 ms: it lasts 1000 ms',
  );
  expect((await toHaveDuration(tone, 1_000, { withinMs: 5 })).message()).toBe(
    'expected the audio not to last 1000 ms ± 5 ms: it lasts 1000 ms',
  );
});

test('a sound without a name is described by its length', async () => {
  const { message } = await toHaveSaid(speechPcm, { pcm: tone });
  expect(message()).toContain('to have said a sound of 1.00 s:');
});

test.each(['minRmsDbfs', 'maxRmsDbfs', 'minPeakDbfs', 'maxPeakDbfs'])(
  'a level at the bound %s is within it',
  async (bound) => {
    const { rmsDbfs, peakDbfs } = measureLevel(tone);
    const level = bound.includes('Peak') ? peakDbfs : rmsDbfs;
    expect(await toHaveLevel(tone, { [bound]: level })).toMatchObject({ pass: true });
  },
);

test.each([
  ['toHaveSaid', () => toHaveSaid('hello.wav', 'hello.wav', { similarty: 0.9 } as never)],
  ['toHaveLevel', () => toHaveLevel('hello.wav', { minRms: -3 } as never)],
  ['toHaveDuration', () => toHaveDuration('hello.wav', 1, { within: 9 } as never)],
])('%s refuses an option that does not exist', async (name, match) => {
  await expect(match()).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(`Invalid ${name} options: unknown option`),
  });
});

test.each([undefined, null, 5, {}, { pcm: 'x' }])('%j is not audio', async (audio) => {
  await expect(toHaveDuration(audio, 5)).rejects.toMatchObject({
    code: 'usage',
    message: 'Not audio',
    hint: expect.stringContaining('name of a WAV file'),
  });
});

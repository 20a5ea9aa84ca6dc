import { execFileSync } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createWavFile } from '../../src/audio/wav/wav-file.ts';
import { loadPcm, openWavStream } from '../../src/audio/wav/wav-source.ts';
import { collect, hasTools, setUpTempFolder } from './files.ts';
import { fitTone, fromPcm, toDb } from './tone.ts';

const files = setUpTempFolder();
const sox = (...args: string[]) =>
  execFileSync('sox', ['-D', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
const wire = ['-t', 'raw', '-r', '16000', '-c', '1', '-b', '16', '-e', 'signed', '-'];

describe.skipIf(!hasTools('sox', 'soxi'))('compared with sox', () => {
  test.each([
    ['8-bit', ['-b', '8', '-e', 'unsigned']],
    ['16-bit', ['-b', '16']],
    ['24-bit', ['-b', '24']],
    ['32-bit', ['-b', '32']],
    ['32-bit float', ['-b', '32', '-e', 'float']],
    ['64-bit float', ['-b', '64', '-e', 'float']],
    ['A-law', ['-e', 'a-law']],
    ['µ-law', ['-e', 'mu-law']],
  ])('its 16 kHz %s file decodes to the same samples', async (_name, encoding) => {
    const path = files.path();
    sox('-n', '-r', '16000', '-c', '1', ...encoding, path, 'synth', '0.5', 'sine', '100-7000', 'vol', '0.7');
    const [ours, theirs] = [fromPcm(await loadPcm(path)), fromPcm(sox(path, ...wire))];
    expect(ours.length).toBe(theirs.length);
    const differences = ours.map((sample, i) => Math.abs(sample - theirs[i]!));
    expect(Math.max(...differences)).toBeLessThanOrEqual(1 / 0x8000);
  });

  test.each(['8000', '11025', '22050', '44100', '48000', '96000'])(
    'its %s Hz stereo file is resampled to the same sound',
    async (rate) => {
      const path = files.path();
      sox(
        '-n',
        '-r',
        rate,
        '-c',
        '2',
        '-b',
        '24',
        path,
        'synth',
        '0.5',
        'sine',
        '300',
        'sine',
        '300',
        'vol',
        '0.5',
      );
      const [ours, theirs] = [fromPcm(await loadPcm(path)), fromPcm(sox(path, ...wire))];
      expect(Math.abs(ours.length - theirs.length)).toBeLessThanOrEqual(1);
      const [a, b] = [fitTone(ours, 300, 16_000), fitTone(theirs, 300, 16_000)];
      expect(Math.abs(toDb(a.amplitude / b.amplitude))).toBeLessThan(0.01);
      expect(Math.abs(a.phase - b.phase)).toBeLessThan(0.001);
    },
  );

  test.each([
    ['ima-adpcm', /IMA ADPCM/],
    ['ms-adpcm', /Microsoft ADPCM/],
    ['gsm-full-rate', /GSM 6\.10/],
  ])('its %s file is refused by name', async (encoding, reason) => {
    const path = files.path();
    sox('-n', '-r', '8000', '-c', '1', '-e', encoding, path, 'synth', '0.5', 'sine', '300');
    await expect(loadPcm(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(reason),
    });
  });

  test('a WAV that it writes to a pipe is read to its end', async () => {
    const path = files.path();
    const synth = ['synth', '0.5', 'sine', '300'];
    const piped = sox('-n', '-r', '48000', '-c', '2', '-b', '16', '-t', 'wav', '-', ...synth);
    sox('-n', '-r', '48000', '-c', '2', '-b', '16', path, ...synth);
    const source = await openWavStream(createReadStream(files.write(piped)));
    expect(source.durationMs).toBeUndefined();
    expect((await collect(source.read())).equals(await loadPcm(path))).toBe(true);
  });

  test('it reads our recordings', async () => {
    const path = files.path();
    const file = await createWavFile(path);
    const pcm = sox('-n', ...wire, 'synth', '2.5', 'sine', '300');
    await file.write(pcm);
    await file.close();
    const info = (flag: string) => execFileSync('soxi', [flag, path]).toString().trim();
    expect(['-r', '-c', '-b', '-s', '-e'].map(info)).toEqual([
      '16000',
      '1',
      '16',
      '40000',
      'Signed Integer PCM',
    ]);
    expect(sox(path, ...wire).equals(pcm)).toBe(true);
    expect(readFileSync(path).subarray(44).equals(pcm)).toBe(true);
  });
});

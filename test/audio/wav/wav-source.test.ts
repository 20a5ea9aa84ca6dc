import { execFileSync } from 'node:child_process';
import {
  closeSync,
  createWriteStream,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { loadPcm, openWavFile, openWavStream } from '../../../src/audio/wav/wav-source.ts';
import { collect, cut, hasTools, setUpTempFolder } from '../files.ts';
import { fitTone, fromPcm, interleave, makeTone, middleRms, toDb } from '../tone.ts';
import { chunk, encode, extensibleBody, formatBody, riff, tags, wav } from './wav-bytes.ts';

const files = setUpTempFolder();
const second = encode(makeTone({ hz: 440, rate: 16_000, seconds: 1 }), tags.pcm, 16);
const stereo48 = (hz: number) => {
  const samples = interleave(makeTone({ hz, rate: 48_000, seconds: 1 }), 2);
  return wav(encode(samples, tags.pcm, 16), { rate: 48_000, channels: 2 });
};
const openFiles = () => readdirSync('/proc/self/fd').length;

describe('the output', () => {
  test('16 kHz 16-bit mono passes byte for byte, each time it is read', async () => {
    const source = await openWavFile(files.write(wav(second)));
    expect(source).toMatchObject({ durationMs: 1000, repeatable: true });
    expect(source.description).toMatchObject({ converted: false, text: '16,000 Hz, 16-bit, mono' });
    expect((await collect(source.read())).equals(second)).toBe(true);
    expect((await collect(source.read())).equals(second)).toBe(true);
  });

  test('48 kHz stereo keeps 1 kHz within half a decibel', async () => {
    const samples = fromPcm(await loadPcm(files.write(stereo48(1_000))));
    expect(samples.length).toBe(16_000);
    const { amplitude, phase, snrDb } = fitTone(samples, 1_000, 16_000);
    expect(Math.abs(toDb(amplitude / 0.5))).toBeLessThan(0.01);
    expect(Math.abs(phase)).toBeLessThan(0.001);
    expect(snrDb).toBeGreaterThan(90);
  });

  test('48 kHz stereo keeps nothing of 10 kHz, which 16 kHz cannot represent', async () => {
    const samples = fromPcm(await loadPcm(files.write(stereo48(10_000))));
    expect(toDb(middleRms(samples) + 1e-9)).toBeLessThan(-90);
  });

  test.each([8_000, 11_025, 32_000, 44_100, 44_101, 384_000, 1_000])(
    '%i Hz is resampled with its level, its length and its clock',
    async (rate) => {
      const hz = rate === 1_000 ? 200 : 1_000;
      const samples = makeTone({ hz, rate, seconds: 1 });
      const source = await openWavFile(
        files.write(wav(encode(samples, tags.float, 32), { rate, tag: tags.float, bits: 32 })),
      );
      expect(source.durationMs).toBe(1000);
      const out = fromPcm(await collect(source.read()));
      const { amplitude, phase, snrDb } = fitTone(out, hz, 16_000);
      expect(out.length).toBe(16_000);
      expect(Math.abs(toDb(amplitude / 0.5))).toBeLessThan(0.05);
      expect(Math.abs(phase)).toBeLessThan(0.01);
      expect(snrDb).toBeGreaterThan(85);
    },
  );

  test.each([
    ['8-bit', tags.pcm, 8, 40],
    ['16-bit', tags.pcm, 16, 90],
    ['24-bit', tags.pcm, 24, 90],
    ['32-bit', tags.pcm, 32, 90],
    ['32-bit float', tags.float, 32, 90],
    ['64-bit float', tags.float, 64, 90],
    ['A-law', tags.alaw, 8, 35],
    ['µ-law', tags.mulaw, 8, 35],
  ])('%s is decoded, plain and extensible', async (name, tag, bits, snr) => {
    const bytes = encode(interleave(makeTone({ hz: 440, rate: 16_000, seconds: 0.25 }), 2), tag, bits);
    for (const head of [
      wav(bytes, { tag, bits, channels: 2 }),
      riff([chunk('fmt ', extensibleBody({ tag, bits, channels: 2 })), chunk('data', bytes)]),
    ]) {
      const source = await openWavFile(files.write(head));
      expect(source.description.text).toBe(`16,000 Hz, ${name}, stereo`);
      const { amplitude, snrDb } = fitTone(fromPcm(await collect(source.read())), 440, 16_000);
      expect(Math.abs(toDb(amplitude / 0.5))).toBeLessThan(0.1);
      expect(snrDb).toBeGreaterThan(snr);
    }
  });

  test('channels are mixed to their mean', async () => {
    const samples = [0.5, -0.25, 0.5, 0, 0, 0, -0.75, 0, 0];
    const pcm = await loadPcm(files.write(wav(encode(samples, tags.pcm, 16), { channels: 3 })));
    expect([...fromPcm(pcm)]).toEqual([0.25, 0, -0.25]);
  });

  test('samples that are not numbers or beyond the scale become silence or the limit', async () => {
    const samples = [Number.NaN, Number.POSITIVE_INFINITY, -3, 0.5];
    const pcm = await loadPcm(
      files.write(wav(encode(samples, tags.float, 32), { tag: tags.float, bits: 32 })),
    );
    expect([...fromPcm(pcm)]).toEqual([0, 0x7fff / 0x8000, -1, 0.5]);
  });

  test.each([[1], [7], [160], [4096], [1, 4096, 3]])(
    'a stream cut into pieces of %j bytes gives the same audio',
    async (...sizes) => {
      const bytes = wav(
        encode(interleave(makeTone({ hz: 440, rate: 44_100, seconds: 0.05 }), 2), tags.pcm, 24),
        { rate: 44_100, channels: 2, bits: 24 },
      );
      const whole = await loadPcm(files.write(bytes));
      const source = await openWavStream(Readable.from(cut(bytes, ...sizes)));
      expect(source.repeatable).toBe(false);
      expect((await collect(source.read())).equals(whole)).toBe(true);
    },
  );

  test('chunks are whole samples, however the stream is split', async () => {
    const bytes = second.subarray(0, 3_000);
    const source = await openWavStream(Readable.from(cut(wav(bytes), 3, 4, 1)));
    const lengths: number[] = [];
    for await (const pcm of source.read()) lengths.push(pcm.length);
    expect(lengths.filter((length) => length % 2 !== 0)).toEqual([]);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(3_000);
  });
});

test.each([
  ['resampled', { rate: 48_000 }],
  ['mixed to mono', { channels: 2 }],
  ['neither', {}],
])('no chunk is empty if the audio is %s', async (_what, format) => {
  const source = await openWavStream(Readable.from(cut(wav(second.subarray(0, 960), format), 7)));
  for await (const pcm of source.read()) expect(pcm.length).toBeGreaterThan(0);
});

test('a stream whose header gives no length has no duration', async () => {
  const endless = riff([chunk('fmt ', formatBody()), chunk('data', second, { size: 0xffffffff })]);
  const source = await openWavStream(Readable.from([endless]));
  expect(source.durationMs).toBeUndefined();
});

describe('it refuses', () => {
  test.each([
    ['48 kHz', wav(second, { rate: 48_000 })],
    ['stereo', wav(second, { channels: 2 })],
    ['8-bit', wav(second, { bits: 8 })],
    ['float', wav(second, { tag: tags.float, bits: 32 })],
  ])('%s under strictFormat', async (_name, bytes) => {
    const opening = openWavFile(files.write(bytes), { strictFormat: true });
    await expect(opening).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(/must be 16,000 Hz, 16-bit, mono/),
    });
  });

  test('not the right format under strictFormat', async () => {
    const source = await openWavFile(files.write(wav(second)), { strictFormat: true });
    expect((await collect(source.read())).length).toBe(32_000);
  });

  test.each([
    ['a file that is not there', files.path('missing.wav'), /there is no such file/],
    ['a folder', files.path('.'), /it is a folder/],
    ['a path through a file', `${files.write(wav(second))}/x.wav`, /not a folder/],
    ['a path that no system takes', 'a\0b.wav', /not a valid path/],
    ['a path that is too long', 'x'.repeat(5000), /name is too long/],
  ])('%s', async (_name, path, reason) => {
    await expect(openWavFile(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(reason),
    });
  });

  test.each([
    ['standard input', {}],
    ['the pipe', { name: 'the pipe' }],
  ])('a stream that is not a WAV, with its format: %s', async (name, options) => {
    const opening = openWavStream(Readable.from([Buffer.from('text')]), options);
    await expect(opening).rejects.toThrow(`${name}`);
  });

  test('a second reading of a stream', async () => {
    const source = await openWavStream(Readable.from([wav(second)]));
    await collect(source.read());
    await expect(collect(source.read())).rejects.toMatchObject({ code: 'bad-input' });
  });

  test('a file that disappears between opening and reading', async () => {
    const path = files.write(wav(second));
    const source = await openWavFile(path);
    rmSync(path);
    await expect(collect(source.read())).rejects.toMatchObject({ code: 'bad-input' });
  });

  test('a stream that fails, and reports the failure', async () => {
    const stream = new PassThrough();
    stream.write(wav(second).subarray(0, 1_000));
    const source = await openWavStream(stream);
    stream.destroy(new Error('the cable was pulled'));
    await expect(collect(source.read())).rejects.toMatchObject({
      code: 'input-output',
      message: expect.stringMatching(/cable was pulled/),
    });
  });
});

describe('how it ends', () => {
  test('a file that became shorter is read to the end of its audio', async () => {
    const path = files.write(wav(second));
    const source = await openWavFile(path);
    truncateSync(path, 44 + 1001);
    expect((await collect(source.read())).equals(second.subarray(0, 1000))).toBe(true);
  });

  test.skipIf(!existsSync('/proc/self/fd'))(
    'no file stays open: after reading, leaving early, aborting or a refusal',
    async () => {
      const path = files.write(stereo48(440));
      const before = openFiles();
      for (let round = 0; round < 3; round += 1) {
        const source = await openWavFile(path);
        for await (const _pcm of source.read()) break;
        const controller = new AbortController();
        const aborted = (async () => {
          for await (const _pcm of source.read(controller.signal)) controller.abort();
        })();
        await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
        await openWavFile(files.write(Buffer.from('nothing'))).catch(() => {});
      }
      expect(openFiles()).toBe(before);
    },
  );

  test('an aborted signal ends the reading with its reason', async () => {
    const source = await openWavFile(files.write(wav(second)));
    const reason = new Error('enough');
    await expect(collect(source.read(AbortSignal.abort(reason)))).rejects.toBe(reason);
  });

  test('aborting ends a read that waits for a stream, and closes the stream', async () => {
    const stream = new PassThrough();
    stream.write(wav(second).subarray(0, 1044));
    const source = await openWavStream(stream);
    const controller = new AbortController();
    const reason = new Error('enough');
    let bytes = 0;
    const reading = (async () => {
      for await (const pcm of source.read(controller.signal)) {
        bytes += pcm.length;
        if (bytes === 1000) setImmediate(() => controller.abort(reason));
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(stream.destroyed).toBe(true);
  });

  test('aborting ends an open that waits for a header', async () => {
    const stream = new PassThrough();
    const controller = new AbortController();
    const reason = new Error('enough');
    const opening = openWavStream(stream, { signal: controller.signal });
    controller.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(stream.destroyed).toBe(true);
  });

  test('a stream that is abandoned early is closed, so that its writer notices', async () => {
    const stream = new PassThrough();
    stream.write(wav(second));
    const source = await openWavStream(stream);
    for await (const _pcm of source.read()) break;
    expect(stream.destroyed).toBe(true);
  });

  test('a stream is read no faster than the consumer takes it', async () => {
    let produced = 0;
    const endless = async function* () {
      yield wav(second).subarray(0, 40);
      yield Buffer.from([255, 255, 255, 255]);
      for (;;) {
        produced += 1;
        yield second;
      }
    };
    const source = await openWavStream(Readable.from(endless(), { highWaterMark: 1 }));
    let taken = 0;
    for await (const _pcm of source.read()) {
      taken += 1;
      await new Promise(setImmediate);
      if (taken === 50) break;
    }
    expect(produced).toBeLessThan(60);
  });

  test.skipIf(!hasTools('mkfifo'))('a named pipe is read as a stream', async () => {
    const pipe = files.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const opening = openWavFile(pipe);
    createWriteStream(pipe).end(wav(second));
    const source = await opening;
    expect(source.repeatable).toBe(false);
    expect((await collect(source.read())).equals(second)).toBe(true);
  });

  test.skipIf(!hasTools('mkfifo'))('loading a pipe without a writer can be aborted', async () => {
    const pipe = files.path('silent');
    execFileSync('mkfifo', [pipe]);
    const writer = openSync(pipe, 'r+');
    const controller = new AbortController();
    const reason = new Error('enough');
    const loading = loadPcm(pipe, { signal: controller.signal });
    controller.abort(reason);
    await expect(loading).rejects.toBe(reason);
    closeSync(writer);
  });
});

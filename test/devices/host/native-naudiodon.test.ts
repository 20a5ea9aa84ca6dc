import { expect, test } from 'vitest';
import { openNaudiodon } from '../../../src/devices/host/native-naudiodon.ts';

/** A library that keeps what it was told. */
function fakeLibrary() {
  const told: { options: object[]; calls: (Buffer | string)[] } = { options: [], calls: [] };
  const stream = {
    write(piece: Buffer, done: () => void) {
      told.calls.push(piece);
      done();
    },
    start: () => void told.calls.push('start'),
    quit: async () => void told.calls.push('quit'),
  };
  const library = {
    getDevices: () => [
      { id: 3, name: 'spk', maxInputChannels: 0, maxOutputChannels: 2, defaultSampleRate: 48_000 },
    ],
    getHostAPIs: () => ({ defaultHostAPI: 0, HostAPIs: [{ id: 0, defaultInput: -1, defaultOutput: 3 }] }),
    AudioIO({ outOptions }: { outOptions: object }) {
      told.options.push(outOptions);
      return stream;
    },
  };
  const load = Object.assign(() => library, { resolve: (name: string) => name, cache: {} });
  return { told, require: load as unknown as NodeJS.Require };
}

test('naudiodon plays in pieces of 5 ms, and starts with 20 ms of silence', async () => {
  const { told, require } = fakeLibrary();
  const output = await openNaudiodon(require).openOutput(undefined);
  expect(told.options).toMatchObject([
    { deviceId: 3, sampleRate: 16_000, framesPerBuffer: 80, highwaterMark: 160, maxQueue: 4 },
  ]);
  const silence = Buffer.alloc(160);
  expect(told.calls).toEqual([silence, silence, silence, silence, 'start']);
  const frame = Buffer.from(Array.from({ length: 640 }, (_, i) => i % 251));
  await output.write(frame);
  const pieces = told.calls.slice(5) as Buffer[];
  expect(pieces.map(({ length }) => length)).toEqual([160, 160, 160, 160]);
  expect(Buffer.concat(pieces)).toEqual(frame);
});

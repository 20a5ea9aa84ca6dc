import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStereo, type StereoPart } from '../../src/recording/stereo.ts';
import { createTrack, slackMs } from '../../src/recording/track.ts';

/** A message of so many samples of this value. */
function samples(value: number, count: number): Buffer {
  return Buffer.from(new Int16Array(count).fill(value).buffer);
}

const bytesOf = (parts: readonly StereoPart[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.alloc(part) : part)));

/** One channel of stereo PCM. */
function channel(parts: readonly StereoPart[], index: 0 | 1): Buffer {
  const stereo = bytesOf(parts);
  const mono = Buffer.alloc(stereo.length / 2);
  for (let at = 0; at < mono.length; at += 2)
    stereo.copy(mono, at, at * 2 + index * 2, at * 2 + index * 2 + 2);
  return mono;
}

/** Where a channel is not silent, in milliseconds. */
function sounding(mono: Buffer): { from: number; to: number } {
  const at = Array.from({ length: mono.length / 2 }, (_, i) => i).filter(
    (i) => mono.readInt16LE(i * 2) !== 0,
  );
  return { from: at[0]! / 16, to: (at.at(-1)! + 1) / 16 };
}

describe('both voices on one time axis', () => {
  test('are the client on the left and the AI on the right, each at its own time', () => {
    const stereo = createStereo();
    const parts = [
      ...stereo.add('out', 100, samples(1, 320)),
      ...stereo.add('in', 500, samples(2, 640)),
      ...stereo.end(1_000),
    ];
    expect(sounding(channel(parts, 0))).toEqual({ from: 100, to: 120 });
    expect(sounding(channel(parts, 1))).toEqual({ from: 500, to: 540 });
    expect(bytesOf(parts)).toHaveLength(1_000 * 64);
  });

  test('are given out while the other voice is silent: nothing piles up', () => {
    const stereo = createStereo();
    let bytes = 0;
    for (let t = 0; t < 60_000; t += 20) bytes += bytesOf(stereo.add('out', t, samples(1, 320))).length;
    expect(bytes).toBeGreaterThan(59_000 * 64);
  });

  test('silence of both is a number, however long it lasts', () => {
    const stereo = createStereo();
    const parts = stereo.add('in', 3_600_000, samples(2, 320));
    expect(parts.every((part) => typeof part === 'number')).toBe(true);
    expect(bytesOf(stereo.end(0)).length / 64).toBe(20);
  });

  test('are what the two mono files of a recording have, however messages come', () => {
    const messages = fc.array(
      fc.record({
        direction: fc.constantFrom('out' as const, 'in' as const),
        afterMs: fc.integer({ min: 0, max: 400 }),
        count: fc.integer({ min: 1, max: 2_000 }),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(messages, (list) => {
        const stereo = createStereo();
        const tracks = { out: createTrack(slackMs.out), in: createTrack(slackMs.in) };
        const mono = { out: [] as Buffer[], in: [] as Buffer[] };
        const parts: StereoPart[] = [];
        let t = 0;
        for (const { direction, afterMs, count } of list) {
          t += afterMs;
          const pcm = samples(direction === 'out' ? 1 : 2, count);
          mono[direction].push(Buffer.alloc(tracks[direction].place(t, pcm.length).silenceBytes), pcm);
          parts.push(...stereo.add(direction, t, pcm));
        }
        parts.push(...stereo.end(t));
        const ends = (direction: 'out' | 'in', index: 0 | 1) => {
          const all = channel(parts, index);
          const wanted = Buffer.concat(mono[direction]);
          expect(all.subarray(0, wanted.length).equals(wanted)).toBe(true);
          expect(all.subarray(wanted.length).every((byte) => byte === 0)).toBe(true);
        };
        ends('out', 0);
        ends('in', 1);
      }),
    );
  });

  test('half a sample at the end of a message is joined with its other half', () => {
    const stereo = createStereo();
    const pcm = samples(0x0102, 4);
    const parts = [
      ...stereo.add('in', 0, pcm.subarray(0, 3)),
      ...stereo.add('in', 1, pcm.subarray(3)),
      ...stereo.end(1),
    ];
    expect(channel(parts, 1).subarray(0, 8).equals(pcm)).toBe(true);
  });
});

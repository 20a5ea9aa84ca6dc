import { describe, expect, test } from 'vitest';
import { findSound, makeSweep } from '../../src/devices/locate-sound.ts';

const sweep = makeSweep(100);

/** What a microphone makes of a sound: later, softer, and with a room's noise. */
function hear(sound: Buffer, { afterMs = 0, gain = 1, noise = 0 }): Buffer {
  const heard = Buffer.alloc(afterMs * 32 + sound.length + 16_000);
  let seed = 3;
  for (let i = 0; i < heard.length / 2; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const at = i * 2 - afterMs * 32;
    const sample = at >= 0 && at + 1 < sound.length ? sound.readInt16LE(at) : 0;
    heard.writeInt16LE(Math.round(sample * gain + (seed / 1_073_741_824 - 1) * noise), i * 2);
  }
  return heard;
}

describe('a sound in a recording', () => {
  test.each([0, 37, 250, 1_000])('is found %d ms after the start, to the sample', (afterMs) => {
    const found = findSound(sweep, hear(sweep, { afterMs }))!;
    expect(found.atMs).toBe(afterMs);
    expect(found.likeness).toBeGreaterThan(0.9999);
  });

  test('is found if it is soft and in noise', () => {
    const found = findSound(sweep, hear(sweep, { afterMs: 80, gain: 0.05, noise: 300 }))!;
    expect(found.atMs).toBeCloseTo(80, 0);
    expect(found.likeness).toBeGreaterThan(0.6);
  });

  test('is not found in noise, in silence, or in too little audio', () => {
    expect(findSound(sweep, hear(Buffer.alloc(0), { noise: 1_000 }))!.likeness).toBeLessThan(0.2);
    expect(findSound(sweep, Buffer.alloc(32_000))!.likeness).toBe(0);
    expect(findSound(sweep, Buffer.alloc(100))).toBeUndefined();
  });
});

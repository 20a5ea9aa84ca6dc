import { expect, test } from 'vitest';
import {
  bytesForMs,
  bytesPerMs,
  bytesPerSample,
  channels,
  defaultFrameMs,
  msForBytes,
  sampleRate,
} from '../../src/protocol/audio-format.ts';

test('audio is 16,000 Hz, 16-bit, mono', () => {
  expect({ sampleRate, bytesPerSample, channels, bytesPerMs }).toEqual({
    sampleRate: 16_000,
    bytesPerSample: 2,
    channels: 1,
    bytesPerMs: 32,
  });
});

test.each([
  [0, 0],
  [defaultFrameMs, 640],
  [1_000, 32_000],
  [0.0625, 2],
  [0.05, 2],
  [0.02, 0],
  [33.33, 1066],
])('%f ms are %i bytes, always whole samples', (ms, bytes) => {
  expect(bytesForMs(ms)).toBe(bytes);
  expect(bytesForMs(ms) % bytesPerSample).toBe(0);
});

test('bytes and milliseconds convert back and forth', () => {
  expect(msForBytes(640)).toBe(20);
  expect(msForBytes(bytesForMs(1_234.5))).toBe(1_234.5);
});

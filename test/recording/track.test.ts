import { describe, expect, test } from 'vitest';
import { createTrack } from '../../src/recording/track.ts';

const frame = 640;

describe('a voice on the time axis', () => {
  test('begins exactly at the time of its first message', () => {
    const track = createTrack(250);
    expect(track.place(110, frame)).toEqual({ at: 3_520, silenceBytes: 3_520 });
  });

  test('continues without a break while messages are roughly on time', () => {
    const track = createTrack(60);
    const places = [100, 123, 139, 199, 180].map((t) => track.place(t, frame).at);
    expect(places).toEqual([3_200, 3_840, 4_480, 5_120, 5_760]);
  });

  test('has silence before a message that is later than the slack', () => {
    const track = createTrack(60);
    track.place(0, frame);
    expect(track.place(81, frame)).toEqual({ at: 81 * 32, silenceBytes: 61 * 32 });
    expect(track.place(161, frame).silenceBytes).toBe(0);
  });

  test('does not overlap if audio comes faster than it can be heard', () => {
    const track = createTrack(60);
    expect([0, 1, 2].map((t) => track.place(t, 32_000).at)).toEqual([0, 32_000, 64_000]);
    expect(track.endBytes).toBe(96_000);
  });

  test('keeps the halves of a split sample together, even across a pause', () => {
    const track = createTrack(60);
    track.place(0, 641);
    const { at, silenceBytes } = track.place(1_000, 639);
    expect(silenceBytes % 2).toBe(0);
    expect(at % 2).toBe(1);
  });
});

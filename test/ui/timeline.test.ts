import { describe, expect, test } from 'vitest';
import {
  addAudio,
  columnOf,
  dropAudio,
  placeMarks,
  readVoice,
  silentVoice,
  type TimelineVoice,
} from '../../src/ui/timeline.ts';

const speak = (voice: TimelineVoice, t: number, audioMs: number, rmsDbfs = -20) =>
  addAudio(voice, { t, audioMs, rmsDbfs });

describe('the timeline', () => {
  test('shows where audio was, where it was silent, and where there was none', () => {
    const voice = speak(speak(silentVoice, 10_000, 1_000), 12_000, 1_000, -100);
    const columns = readVoice(voice, { now: 30_000, columns: 30 });
    // The last column is that of second 30, the first that of second 1.
    expect(columns.map((level) => level ?? null)).toEqual(
      Array.from({ length: 30 }, (_, index) => (index === 9 ? -20 : index === 11 ? -100 : null)),
    );
  });

  test('audio that arrives faster than it plays is shown when it plays', () => {
    let voice = silentVoice;
    for (let index = 0; index < 10; index += 1) voice = speak(voice, 5_000, 500);
    const columns = readVoice(voice, { now: 29_999, columns: 30 });
    expect(columns.flatMap((level, index) => (level === undefined ? [] : [index]))).toEqual([5, 6, 7, 8, 9]);
  });

  test('leaves out what is still to be heard', () => {
    const voice = speak(silentVoice, 1_000, 10_000);
    const columns = readVoice(voice, { now: 2_500, columns: 30 });
    expect(columns.flatMap((level) => level ?? [])).toHaveLength(2);
  });

  test('moves by whole columns, so that nothing flickers', () => {
    const voice = speak(silentVoice, 10_000, 1_300);
    const shapes = [29_000, 29_400, 29_900].map((now) => readVoice(voice, { now, columns: 30 }));
    expect(shapes[1]).toEqual(shapes[0]);
    expect(shapes[2]).toEqual(shapes[0]);
    expect(readVoice(voice, { now: 30_000, columns: 30 })).toEqual([
      ...(shapes[0]?.slice(1) ?? []),
      undefined,
    ]);
  });

  test('keeps no more than it shows', () => {
    let voice = silentVoice;
    for (let t = 0; t < 600_000; t += 100) voice = speak(voice, t, 100);
    expect(voice.levels.length).toBeLessThan(700);
    expect(readVoice(voice, { now: 600_000, columns: 100 }).slice(0, -1)).not.toContain(undefined);
  });

  test('leaves out what was not heard when the service was interrupted', () => {
    const voice = speak(dropAudio(speak(silentVoice, 1_000, 10_000), 3_000), 6_000, 1_000);
    const columns = readVoice(voice, { now: 29_999, columns: 30 });
    expect(columns.flatMap((level, index) => (level === undefined ? [] : [index]))).toEqual([1, 2, 6]);
  });

  test('names marks if there is room: the newest first, and before the mark at the end of the line', () => {
    const line = (...marks: [at: number, sign: string, ...names: string[]][]) => {
      const cells = Array.from({ length: 20 }, () => ' ');
      placeMarks(
        cells,
        marks.map(([at, sign, ...names]) => ({ at, sign, names })),
      );
      return cells.join('');
    };
    expect(line([2, 'f', 'false stop'])).toBe('  f false stop      ');
    expect(line([2, 'f', 'false stop'], [9, 'y', '90 ms'])).toBe('  f      y 90 ms    ');
    expect(line([2, 'f', 'no'], [19, 'y', '90 ms'])).toBe('  f no       90 ms y');
    expect(line([4, '▲', 'barge-in'], [5, '▲', 'barge-in'])).toBe('    ▲▲ barge-in     ');
    expect(line([5, 'y', 'yields 90 ms', '90 ms'], [16, 'f'])).toBe('     y 90 ms    f   ');
  });

  test('a moment has a column while it is in view', () => {
    expect(columnOf(29_500, { now: 29_999, columns: 30 })).toBe(29);
    expect(columnOf(0, { now: 29_999, columns: 30 })).toBe(0);
    expect(columnOf(0, { now: 31_000, columns: 30 })).toBeUndefined();
  });
});

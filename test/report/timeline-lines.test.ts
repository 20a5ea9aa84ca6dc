import { expect, test } from 'vitest';
import type { RecordedEvent } from '../../src/recording/format.ts';
import { createStyle } from '../../src/report/style.ts';
import { type Picture, timelineLines } from '../../src/report/timeline-lines.ts';

const style = createStyle(false);
const columns = 40;
const loud = (from: number, to: number, peak = 1) =>
  Array.from({ length: columns }, (_, column) => (column >= from && column < to ? peak : 0));

const picture: Picture = {
  durationMs: 4_000,
  turns: [
    { voice: 'out', startMs: 200, endMs: 1_800, afterMs: null, bargeIn: false },
    { voice: 'in', startMs: 2_400, endMs: 3_900, afterMs: 600, bargeIn: false },
  ],
  dialogue: { overlaps: [], turns: [], noises: [], remarks: [] },
  gaps: [{ startMs: 3_000, endMs: 3_200 }],
  sounds: [],
  peaks: { out: loud(2, 18), in: loud(24, 39, 0.06) },
  events: [
    { t: 100, type: 'message', category: 'connected', kind: 'service_voice_connected', body: {} },
    { t: 110, type: 'message', category: 'status', kind: 'status', body: {} },
    { t: 2_400, type: 'message', category: 'error', kind: 'error', body: {} },
    { t: 3_990, type: 'close', code: 1000, reason: '', name: 'normal' },
  ] satisfies RecordedEvent[],
};

test('both voices are on one axis, with turns, gaps and events', () => {
  expect(timelineLines(picture, { ascii: false, style })).toEqual([
    '        0 s       1 s       2 s       3 s',
    '        ╷         ╷         ╷         ╷',
    '          ████████████████',
    'you       ████████████████',
    '          ╰─── 1.60 s ────╯',
    '',
    'ai                              ██████░░███████',
    '                                ╰─── 1.50 s ───╯',
    'events   c                      e              x',
    '        s status  c connected  x close  e error  ░ gap (1)',
  ]);
});

test('an ASCII picture contains only ASCII', () => {
  const lines = timelineLines(picture, { ascii: true, style });
  expect(lines.join('\n')).toMatch(/^[\n\x20-\x7e]*$/);
  expect(lines[3]).toBe('you       ################');
});

test.each([1, 60_000, 5_400_000])('a picture of %i ms is not too wide', (durationMs) => {
  const events = [
    { t: durationMs, type: 'close', code: 1000, reason: '', name: 'normal' },
  ] satisfies RecordedEvent[];
  for (const line of timelineLines({ ...picture, durationMs, events }, { ascii: false, style }))
    expect([...line].length).toBeLessThanOrEqual(60);
});

test('what is found in the AI’s audio is marked where it is heard, not where it was reported', () => {
  const events = [
    { t: 3_800, type: 'warning', code: 'click', message: 'clicks', agoMs: 800 },
  ] satisfies RecordedEvent[];
  const lines = timelineLines(
    { ...picture, gaps: [], events, sounds: [{ t: 3_000 }] },
    { ascii: true, style },
  );
  expect(lines.slice(-2)).toEqual([`events${' '.repeat(32)}k`, '        k AI sound']);
});

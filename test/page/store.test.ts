import { expect, test } from 'vitest';
import { axisOf, createSession, hearSession, noteEvent } from '../../src/page/app/live/session.ts';
import { list, take } from '../../src/page/app/live/store.ts';
import { shownRows } from '../../src/ui/event-list.ts';

const entry = (seq: number, t: number, more = {}) => ({
  seq,
  t,
  type: 'control',
  what: `moment ${seq}`,
  ...more,
});

test('events that are missing leave a line that says how many', () => {
  take({ type: 'events', entries: [entry(1, 0), entry(2, 1)] });
  take({ type: 'events', entries: [entry(2, 1), entry(7, 5)] });
  expect(shownRows(list.value).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'control moment 1',
    'control moment 2',
    'gap 4 events were missed',
    'control moment 7',
  ]);
});

test('the axis of a session has who speaks, waits and talks over whom', () => {
  const session = createSession(1, 1_000);
  const told = (voice: 'out' | 'in', speech: { startMs: number; endMs: number | null }[]) => ({
    ...{ voice, from: 0, peaks: '', speech },
  });
  hearSession(
    session,
    {
      ...{ stream: 1, openedAt: 1_000, heardFromMs: 0, gaps: [] },
      voices: [
        told('out', [
          { startMs: 200, endMs: 900 },
          { startMs: 2_000, endMs: null },
        ]),
        told('in', [{ startMs: 1_500, endMs: 2_300 }]),
      ],
    },
    3_000,
  );
  noteEvent(session, { t: 0, type: 'reply-ended', stream: 1, device: 'd', bargeIn: true }, 3_400);
  const axis = axisOf(session)(3_500);
  expect(axis.durationMs).toBe(2_500);
  expect(axis.turns).toMatchObject([
    { voice: 'out', startMs: 200, endMs: 900, bargeIn: false },
    { voice: 'in', startMs: 1_500, afterMs: 600 },
    { voice: 'out', startMs: 2_000, endMs: 2_500, bargeIn: true, isOpen: true },
  ]);
  expect(axis.marks).toMatchObject([{ t: 2_400, name: 'barge-in' }]);
});

import { describe, expect, test } from 'vitest';
import {
  addEventToPageStream,
  axisOf,
  createPageStream,
  endPageStream,
  hearPageStream,
} from '../../src/page/app/live/page-stream.ts';
import { applyMessage, counters, list } from '../../src/page/app/live/store.ts';
import { noCounters } from '../../src/report/serve-counters.ts';
import { type Row, shownRows } from '../../src/ui/event-list.ts';
import { createServeModel, reduceServe } from '../../src/ui/serve-model.ts';
import { everyEmulatorEvent } from '../helpers/every-event.ts';
import { serveStart } from '../ui/screens.ts';

const entry = (seq: number, t: number, more = {}) => ({
  seq,
  t,
  type: 'control',
  what: `moment ${seq}`,
  ...more,
});

test('missing events leave a line that says how many', () => {
  applyMessage({ type: 'events', entries: [entry(1, 0), entry(2, 1)] });
  applyMessage({ type: 'events', entries: [entry(2, 1), entry(7, 5)] });
  expect(shownRows(list.value).map(({ subject, text }) => `${subject} ${text}`)).toEqual([
    'control moment 1',
    'control moment 2',
    'gap missed 4 events',
    'control moment 7',
  ]);
});

test('an entry of the page says the same as a row of the screen', () => {
  const entries = everyEmulatorEvent.map(({ event }, index) => ({ seq: 100 + index, ...event }));
  applyMessage({ type: 'events', entries: entries.slice(0, 15) });
  applyMessage({ type: 'events', entries: entries.slice(15) });
  applyMessage({ type: 'state', at: 1, state: { streams: [] }, recordings: [] } as never);
  const events = everyEmulatorEvent.map(({ event }) => event);
  const { rows } = reduceServe(createServeModel(serveStart), events).list;
  const said = (all: readonly Row[]) => all.map(({ id: _, event: __, repeats: ___, ...words }) => words);
  expect(said(list.value.rows.slice(-rows.length))).toEqual(said(rows));
});

test('the page shows the counts of the emulator, not of the events that it was told', () => {
  const issued = { t: 2, type: 'token-issued', device: 'd', jti: 'j', exp: 1, remaining: 1, resetAtMs: 1 };
  const told = { ...noCounters, tokens: 1_018, streams: 202 };
  applyMessage({ type: 'counters', counters: told });
  applyMessage({ type: 'events', entries: [{ seq: 900, ...issued }] });
  expect(counters.value).toEqual(told);
});

test('the axis of a stream shows who speaks, waits and talks over whom', () => {
  const stream = createPageStream(1, 1_000);
  const told = (voice: 'out' | 'in', speech: { startMs: number; endMs: number | null }[]) => ({
    ...{ voice, from: 0, peaks: '', speech },
  });
  hearPageStream(
    stream,
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
  addEventToPageStream(stream, { t: 0, type: 'reply-ended', stream: 1, device: 'd', bargeIn: true }, 3_400);
  const axis = axisOf(stream)(3_500);
  expect(axis.durationMs).toBe(2_500);
  expect(axis.turns).toMatchObject([
    { voice: 'out', startMs: 200, endMs: 900, bargeIn: false },
    { voice: 'in', startMs: 1_500, afterMs: 600 },
    { voice: 'out', startMs: 2_000, endMs: 2_500, bargeIn: true, isOpen: true },
  ]);
  expect(axis.marks).toMatchObject([{ t: 2_400, name: 'barge-in' }]);
});

test('of a stream the newest 2,000 stretches of speech, gaps and marks of turns are kept', () => {
  const stream = createPageStream(1, 0);
  const stretch = (number: number) => ({ startMs: number * 1_000, endMs: number * 1_000 + 100 });
  for (let first = 0; first < 3_000; first += 500) {
    const stretches = Array.from({ length: 500 }, (_, index) => stretch(first + index));
    const voices = [{ voice: 'out' as const, from: 0, peaks: '', speech: stretches }];
    const marks = stretches.map(({ startMs: t }) => ({
      t,
      tone: 'note' as const,
      name: 'barge-in',
      text: '',
    }));
    const turns = { fromMs: first * 1_000, marks };
    const heard = { stream: 1, openedAt: 0, heardFromMs: 0, gaps: stretches, voices, turns };
    hearPageStream(stream, heard, 3_000_000);
  }
  expect(stream.turnMarks.map(({ t }) => t / 1_000)).toEqual(
    Array.from({ length: 2_000 }, (_, at) => 1_000 + at),
  );
  for (const kept of [stream.voices.out.speech, stream.gaps]) {
    expect(kept).toHaveLength(2_000);
    expect([kept[0], kept.at(-1)]).toEqual([stretch(1_000), stretch(2_999)]);
  }
});

test('the transcript has the newest version of each part, and what a proxy judged is kept', () => {
  const stream = createPageStream(1, 0);
  const sent = (t: number, body: unknown) =>
    addEventToPageStream(stream, { t, type: 'message-sent', stream: 1, device: 'd', body }, t);
  sent(100, { type: 'transcript', role: 'user', text: 'Is the', final: false });
  sent(200, { type: 'transcript', role: 'user', text: 'Is the light on?', final: true });
  sent(300, { type: 'status', status: 'speaking' });
  sent(400, { type: 'transcript', role: 'assistant', text: 'It is' });
  expect(stream.transcript.lines).toEqual([
    { t: 100, who: 'you', text: 'Is the light on?' },
    { t: 400, who: 'AI', text: 'It is' },
  ]);
  const judgement = { from: 'device', rule: 'D4', message: 'm', value: 'v', count: 1 } as const;
  addEventToPageStream(stream, { t: 500, type: 'violation', stream: 1, ...judgement }, 500);
  expect(stream.judged).toMatchObject([{ subject: 'D4', text: 'v (device breaks D4: m)', level: 'error' }]);
  const axis = axisOf(stream)(600);
  expect(axis.spoken).toHaveLength(2);
  expect(axis.marks.at(-1)).toMatchObject({ name: 'D4', tone: 'bad' });
});

test('what is drawn into the picture is escaped like what is listed beside it', () => {
  const stream = createPageStream(1, 0);
  const sent = (t: number, body: unknown) =>
    addEventToPageStream(stream, { t, type: 'message-sent', stream: 1, device: 'd', body }, t);
  sent(100, { type: 'transcript', role: 'user', text: 'is \u202eit', final: false });
  sent(150, { type: 'transcript', role: 'user', text: 'is \u202eit on', final: true });
  sent(200, { type: 'status', status: 'gni\u202ekaeps' });
  const axis = axisOf(stream)(600);
  expect(axis.spoken.map(({ text }) => text)).toEqual(['is \\u202eit on']);
  expect(axis.marks.map(({ name }) => name)).toContain('gni\\u202ekaeps');
});

describe('speech that goes on when the tab falls asleep ends where it was last heard', () => {
  const speaking = () => {
    const stream = createPageStream(1, 1_000);
    const hear = (heardFromMs: number, at: number, speech: { startMs: number; endMs: number | null }[]) =>
      hearPageStream(
        stream,
        {
          ...{ stream: 1, openedAt: 1_000, heardFromMs, gaps: [] },
          voices: [{ voice: 'out', from: 0, peaks: '', speech }],
        },
        at,
      );
    hear(0, 1_500, [{ startMs: 200, endMs: null }]);
    const axis = axisOf(stream);
    const turns = (at: number) => axis(at).turns.map(({ startMs, endMs }) => [startMs, endMs]);
    expect(turns(1_600)).toEqual([[200, 600]]);
    return { stream, hear, turns };
  };

  test('if it wakes up while the stream is open', () => {
    const { hear, turns } = speaking();
    hear(60_000, 61_100, [{ startMs: 60_050, endMs: null }]);
    expect(turns(61_200)).toEqual([
      [200, 500],
      [60_050, 60_200],
    ]);
  });

  test('if the stream closes meanwhile', () => {
    const { stream, turns } = speaking();
    const closed = { type: 'stream-closed', stream: 1, durationMs: 60_000, remarks: [] } as const;
    addEventToPageStream(stream, { t: 0, ...closed } as never, 61_000, { level: 'info' } as never);
    expect(turns(61_200)).toEqual([[200, 500]]);
  });

  test('but if it was heard until the stream closed, at its end', () => {
    const { stream, hear, turns } = speaking();
    endPageStream(stream, 900);
    hear(0, 2_000, [{ startMs: 200, endMs: 850 }]);
    expect(turns(2_000)).toEqual([[200, 850]]);
  });
});

test('a time without listeners is a gap between what is known before and after', () => {
  const stream = createPageStream(1, 1_000);
  const hear = (heardFromMs: number, at: number, peaks: number[], from: number) =>
    hearPageStream(
      stream,
      {
        ...{ stream: 1, openedAt: 1_000, heardFromMs, gaps: [] },
        voices: [{ voice: 'out', from, peaks: Buffer.from(peaks).toString('base64'), speech: [] }],
      },
      at,
    );
  hear(40, 1_100, [0, 0, 7, 8, 9], 0);
  expect(stream.unheard).toEqual([{ startMs: 0, endMs: 40 }]);
  // The tab was hidden: the emulator hears anew from 160 ms on, and has nothing before.
  hear(160, 1_200, [0, 0, 0, 0, 0, 0, 0, 0, 5, 6], 0);
  expect([...stream.voices.out.peaks]).toEqual([0, 0, 7, 8, 9, 0, 0, 0, 5, 6]);
  expect(stream.unheard).toEqual([
    { startMs: 0, endMs: 40 },
    { startMs: 100, endMs: 160 },
  ]);
});

import { describe, expect, test } from 'vitest';
import { recordingView } from '../../src/page/recording-view.ts';
import type { RecordedEvent } from '../../src/recording/format.ts';
import type { Recording } from '../../src/recording/read-recording.ts';
import { describeEmulatorEvent, emulatorLines } from '../../src/report/emulator-lines.ts';
import { describeSessionEvent, isWarning, sessionLines } from '../../src/report/session-lines.ts';
import { createStyle } from '../../src/report/style.ts';
import { createEmulatorEvents, type EmulatorEvent } from '../../src/service/events.ts';
import type { SessionEvent } from '../../src/session/events.ts';
import { createServeModel, reduceServe } from '../../src/ui/serve-model.ts';
import { createStreamModel, reduceStream } from '../../src/ui/stream-model.ts';
import { everyEmulatorEvent, everySessionEvent } from '../helpers/every-event.ts';
import { serveStart, streamStart } from '../ui/screens.ts';

const plain = createStyle(false);
/** Text without the layout: signs, colours, columns. */
const wordsIn = (text: string) => text.replace(/\s+/g, ' ').trim();

/** A line holds the subject and the text of the row, after one another. */
function expectSameWords(lines: readonly string[], rows: readonly { subject: string; text: string }[]) {
  for (const { subject, text } of rows)
    expect(wordsIn(lines.join('\n'))).toContain(wordsIn(`${subject} ${text}`));
}

describe('a line, a row of the screen and an entry of the page say the same', () => {
  test.each(everyEmulatorEvent)('of $type in an emulator or a proxy', ({ type, event }) => {
    const { rows } = reduceServe(createServeModel(serveStart), [event]).list;
    expect(rows).toHaveLength(1);
    const lines = emulatorLines(event, plain);
    // The first line of `serve` is a text of its own; each handshake is too much for lines.
    if (type === 'listening' || type === 'tls-opened') expect(lines).toEqual([]);
    else expectSameWords(lines, rows);
  });

  test.each(everySessionEvent)('of $type in a session', ({ type, event }) => {
    const { rows } = reduceStream(createStreamModel(streamStart), [event]).list;
    // A panel shows the figures.
    expect(rows.length > 0).toBe(type !== 'figures');
    expectSameWords(sessionLines(event, plain), rows);
    if (type === 'summary') return;
    const recording = {
      events: [event as RecordedEvent],
      wire: [],
      audio: { out: Buffer.alloc(0), in: Buffer.alloc(0) },
      problems: [],
      durationMs: 1,
    } as never as Recording;
    const { events } = recordingView(recording, { durationMs: 1, turns: [], gaps: [] });
    expectSameWords(
      events.map(({ text }) => text),
      rows,
    );
    expect(events).toHaveLength(1);
  });
});

test('a row is marked if its line is marked', () => {
  const signs = everyEmulatorEvent.flatMap(({ event }) => {
    const [row] = reduceServe(createServeModel(serveStart), [event]).list.rows;
    const [line] = emulatorLines(event, plain);
    return line === undefined ? [] : [[event.type, row?.level !== 'info', / ! /.test(line)]];
  });
  expect(signs.filter(([, inRow, inLine]) => inRow !== inLine)).toEqual([]);
});

/** The same event as an emulator emits it. */
function emitted({ t: _, level: __, ...body }: EmulatorEvent): EmulatorEvent {
  const events = createEmulatorEvents(() => 0);
  const heard: EmulatorEvent[] = [];
  events.subscribe((event) => heard.push(event));
  events.emit(body as EmulatorEvent);
  return heard[0] as EmulatorEvent;
}

/** Ends of streams that differ in what a developer should look at. */
const ends = [
  { code: 1000 },
  { code: 1001 },
  { code: 1005 },
  { code: 1006 },
  { code: 1006, sentCode: 1000, cause: 'control' },
  { code: 1006, cause: 'fault' },
  { code: 1002, cause: 'protocol-error' },
  { code: 1000, bytesAfterClose: 640 },
] as const;

test('what is marked for people is a warning for programs and for --quiet', () => {
  const closed = everyEmulatorEvent.find(({ type }) => type === 'stream-closed')?.event as EmulatorEvent;
  const all = [
    ...everyEmulatorEvent.map(({ event }) => event),
    ...ends.map((end) => {
      const { sentCode: _, ...rest } = closed as EmulatorEvent & { type: 'stream-closed' };
      return { ...rest, ...end } as EmulatorEvent;
    }),
  ].map(emitted);
  const drifted = all.filter((event) => {
    const isMarked = describeEmulatorEvent(event).level !== 'info';
    return isMarked !== (event.level === 'warning');
  });
  expect(drifted).toEqual([]);
  expect(all.filter(({ level }) => level === 'warning').length).toBeGreaterThan(10);
  const sessions = everySessionEvent.map(({ event }) => event as SessionEvent);
  const drifting = sessions.filter(
    (event) =>
      event.type !== 'summary' && isWarning(event) !== (describeSessionEvent(event).level !== 'info'),
  );
  expect(drifting).toEqual([]);
});

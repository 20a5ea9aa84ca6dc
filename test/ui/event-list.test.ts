import { describe, expect, test } from 'vitest';
import type { EmulatorEvent } from '../../src/service/events.ts';
import {
  addRows,
  createList,
  type EventList,
  heldCount,
  markedRow,
  moveMark,
  type NewRow,
  rowOfEvent,
  rowsInView,
  savedEvents,
  shownRows,
  toggleHold,
} from '../../src/ui/event-list.ts';

const row = (given: Partial<NewRow> = {}): NewRow => ({
  t: 0,
  from: 'device',
  subject: 'status',
  text: '',
  level: 'info',
  event: {},
  ...given,
});
const emptyList = createList('service');
const rows = (count: number) => Array.from({ length: count }, (_, index) => row({ text: `number ${index}` }));
const ids = (list: readonly { id: number }[]) => list.map(({ id }) => id);

describe('the event list', () => {
  test('saves the events of several sessions one after the other', () => {
    const events = [0, 5, 900, 0, 4, 800].map((t) => ({ t }));
    expect(
      savedEvents(
        addRows(
          emptyList,
          events.map((event) => row({ event })),
        ),
      ),
    ).toEqual(events);
  });

  test('saves each event once and in order, also those of a series', () => {
    const refused = (t: number) => ({
      ...{ t, level: 'warning', type: 'request-refused', cause: 'rateLimited', status: 429, code: 'C' },
      ...{ message: 'm', device: 'lamp', remote: '', path: '/p', count: 1 },
    });
    const closed = { t: 250, level: 'info', type: 'stopping' };
    const events = [refused(100), refused(200), closed, refused(300)] as unknown as EmulatorEvent[];
    const list = addRows(emptyList, events.map(rowOfEvent));
    expect(list.rows).toHaveLength(2);
    // The event of the second row, twice.
    expect(savedEvents(addRows(list, [row({ event: events[2] })]))).toEqual(events);
  });

  test('follows the newest event until one is marked, and then stays at that one', () => {
    let list = addRows(emptyList, rows(10));
    expect(ids(rowsInView(list, 3))).toEqual([7, 8, 9]);
    list = moveMark(list, -4);
    expect(markedRow(list)?.id).toBe(5);
    expect(ids(rowsInView(addRows(list, rows(50)), 3))).toEqual([4, 5, 6]);
  });

  test('is paused, counts what arrives meanwhile, and continues', () => {
    const held = addRows(toggleHold(addRows(emptyList, rows(5))), rows(7));
    expect(ids(rowsInView(held, 3))).toEqual([2, 3, 4]);
    expect(heldCount(held)).toBe(7);
    expect(ids(rowsInView(toggleHold(held), 3))).toEqual([9, 10, 11]);
  });

  test('keeps the newest 5,000, in bounded memory', () => {
    let list: EventList = emptyList;
    for (let index = 0; index < 200; index += 1) list = addRows(list, rows(100));
    expect(list.rows.length).toBeLessThanOrEqual(6_000);
    expect(list.rows.length).toBeGreaterThanOrEqual(5_000);
    expect(list.rows.at(-1)?.id).toBe(19_999);
  });

  test.each([
    ['', [0, 1, 2, 3]],
    ['hello', [1]],
    ['HELLO kind:token', []],
    ['kind:tok', [0]],
    ['from:service', [0, 3]],
    ['from:device', [1, 2]],
    // Words from before: seen from the program, which is the service here.
    ['dir:out', [0, 3]],
    ['dir:in', [1, 2]],
    ['device:KITCHEN', [2]],
    ['stream:12', [2, 3]],
    ['stream:12 dir:out', [3]],
  ])('shows with the filter "%s" only what passes it', (filter, expected) => {
    const list = addRows(emptyList, [
      row({ subject: 'token', from: 'service' }),
      row({ text: 'says hello' }),
      row({ device: 'kitchen-1', stream: 12 }),
      row({ from: 'service', stream: 12 }),
    ]);
    expect(ids(shownRows({ ...list, filter }))).toEqual(expected);
  });

  test('if the program is the device, the older word dir:out means from:device', () => {
    const list = addRows(createList('device'), [row({ from: 'service' }), row({ from: 'device' })]);
    expect(ids(shownRows({ ...list, filter: 'dir:out' }))).toEqual([1]);
    expect(ids(shownRows({ ...list, filter: 'dir:in' }))).toEqual([0]);
  });

  test('moves the mark only among the rows that the filter shows', () => {
    const list = { ...addRows(emptyList, rows(20)), filter: 'number 1' };
    expect(markedRow(moveMark(list, -1_000_000))?.text).toBe('number 1');
    expect(markedRow(moveMark(list, 5))?.text).toBe('number 19');
  });
});

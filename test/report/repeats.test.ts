import { describe, expect, test } from 'vitest';
import { emulatorLines } from '../../src/report/emulator-lines.ts';
import { foldRepeats } from '../../src/report/repeats.ts';
import { createStyle } from '../../src/report/style.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { addRows, createList, rowOfEvent } from '../../src/ui/event-list.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const refused = (t: number, more = {}): EmulatorEvent => ({
  ...{ type: 'request-refused', t, level: 'warning', cause: 'rateLimited', status: 429 },
  ...{ code: 'RATE', message: 'too many', device: 'lamp-1', remote: '192.0.2.7', ...more },
});
const text = (t: number, more = {}): EmulatorEvent => ({
  ...{ type: 'text-received', t, level: 'warning', stream: 3, device: 'lamp-1', bytes: 856, ...more },
});
const plain = createStyle(false);

/** Events as lines of plain output, each at its time. */
async function lines(events: readonly EmulatorEvent[], untilMs: number): Promise<string[]> {
  const clock = createManualClock();
  const printed: string[] = [];
  const fold = foldRepeats(clock, (event, again) => void printed.push(...emulatorLines(event, plain, again)));
  let now = 0;
  for (const event of events) {
    await clock.run(event.t - now);
    now = event.t;
    fold.print(event);
  }
  await clock.run(untilMs - now);
  fold.flush();
  return printed.map((line) => line.trim());
}

describe('an event that repeats', () => {
  test('is printed at once, and then as one line with its count and time span', async () => {
    const storm = Array.from({ length: 44 }, (_, index) => refused(index * 28));
    expect(await lines(storm, 3_000)).toEqual([
      '0.000  ! lamp-1  refused  429 RATE: too many (192.0.2.7)',
      '1.204  ! lamp-1  refused  43 requests in 1.2 s after 429: wait for Retry-After (192.0.2.7)',
    ]);
  });

  test('is counted for each device and cause separately, and texts for each stream', async () => {
    const told = await lines(
      [
        ...[
          refused(0),
          refused(10),
          refused(20, { device: 'lamp-2' }),
          refused(30, { cause: 'apiKey', status: 401 }),
        ],
        ...[text(40), text(60), text(80), text(90, { stream: 4 })],
      ],
      2_000,
    );
    expect(told.filter((line) => line.includes('times in'))).toEqual([
      '0.080  ! stream 3 lamp-1  text  2 times in 0.0 s: 856 bytes after the token',
    ]);
    expect(told).toHaveLength(7);
  });

  test('and does not end is reported at longer and longer intervals, and starts again after a pause', async () => {
    const endless = Array.from({ length: 600 }, (_, index) => text(index * 20));
    const told = await lines([...endless, text(20_000)], 21_000);
    // After 1.5, 4.5 and 10.5 s, at the end of the series, and the first of the next.
    expect(told).toHaveLength(6);
    const counts = told.map((line) => Number(/(\d+) times/.exec(line)?.[1] ?? 1));
    expect(counts.reduce((sum, count) => sum + count)).toBe(601);
  });

  test('for minutes is reported at least once a minute', () => {
    const clock = createManualClock();
    const printedAt: number[] = [];
    const fold = foldRepeats(clock, () => void printedAt.push(clock.now()));
    for (let t = 0; t < 400_000; t += 1_000) {
      fold.print(text(t));
      clock.advance(1_000);
    }
    const between = printedAt.slice(1).map((at, index) => at - (printedAt[index] ?? 0));
    expect(Math.max(...between)).toBe(60_000);
  });

  test('counts as many events as a flood stands for', async () => {
    const told = await lines([refused(0), refused(500), refused(1_000, { count: 900 })], 3_000);
    expect(told.at(-1)).toContain('901 requests in 1.0 s after 429');
  });

  test('is one row on the screen and the page, which keeps counting', () => {
    const storm = Array.from({ length: 44 }, (_, index) => refused(index * 28));
    const rows = storm.map(rowOfEvent);
    let list = addRows(createList('service'), rows.slice(0, 20));
    list = addRows(list, [rowOfEvent(text(600))]);
    list = addRows(list, rows.slice(20));
    expect(list.rows.map(({ text }) => text)).toEqual([
      '44 requests in 1.2 s after 429: wait for Retry-After (192.0.2.7)',
      '856 bytes after the token',
    ]);
    expect(addRows(list, [rowOfEvent(refused(9_000))]).rows).toHaveLength(3);
  });
});

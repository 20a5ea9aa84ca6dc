import { expect, test } from 'vitest';
import { createServeLines, type ServeContext } from '../../../src/commands/serve/view.ts';
import { createStyle } from '../../../src/report/style.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';

test('with --quiet, warnings that nobody reads are dropped beyond 8 MiB, and counted', async () => {
  const waiting: { text: string; resolve: () => void }[] = [];
  const context = {
    ...{ settings: {}, json: false, quiet: true, style: createStyle(false) },
    io: { stdout: { write: async () => {} }, clock: createManualClock() },
    warn: (text: string) => new Promise<void>((resolve) => waiting.push({ text, resolve })),
  };
  const view = createServeLines(context as unknown as ServeContext, { key: { open: 'any-key' } });
  const why = 'x'.repeat(200);
  for (let t = 0; t < 100_000; t += 1)
    view.show({ t, type: 'reply-failed', stream: 1, device: 'd', level: 'warning', why });
  const characters = waiting.reduce((sum, { text }) => sum + text.length, 0);
  expect(characters).toBeGreaterThan(1024 * 1024);
  expect(characters).toBeLessThan(8.1 * 1024 * 1024);
  const shown = waiting.splice(0);
  for (const { resolve } of shown) resolve();
  const closed = view.close();
  expect(waiting.map(({ text }) => text)).toEqual([
    `(dropped ${100_000 - shown.length} lines: standard error is read too slowly)`,
  ]);
  waiting[0]?.resolve();
  await closed;
});

import { expect, test } from 'vitest';
import { createFrameView } from '../../../../src/commands/stream/interactive/frame-view.ts';
import { createStyle } from '../../../../src/report/style.ts';
import { createManualClock } from '../../../helpers/manual-clock.ts';

test.each([false, true])('lines that nobody reads are counted and dropped (JSON: %j)', async (json) => {
  const printed: string[] = [];
  let read = () => {};
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  const context = { io: { clock: createManualClock() }, json, style: createStyle(false) };
  const view = createFrameView(context as never, (line) => {
    printed.push(line);
    return isRead;
  });
  const text = 'x'.repeat(1024 * 1024);
  const say = () => view.tap.message?.({ at: 0, from: 'service', opcode: 'text', text, bytes: text.length });
  for (let at = 0; at < 100; at += 1) say();
  expect(printed.length).toBeLessThan(10);
  const before = printed.length;
  read();
  await new Promise(setImmediate);
  say();
  expect(printed).toHaveLength(before + 2);
  expect(printed[before]).toContain(
    json ? `{"type":"skipped","count":${100 - before}}` : `${100 - before} lines`,
  );
  view.close();
});

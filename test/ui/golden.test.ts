import { expect, test } from 'vitest';
import type { ScreenStart } from '../../src/ui/port.ts';
import { createScreen } from './draw.ts';
import { goldenPath, keyPictures, type SceneName, sceneNames, scenes, sizes } from './golden.ts';

/** A scene with all its events on a screen of this size. */
function open(name: SceneName, size: readonly [number, number], changed: Partial<ScreenStart> = {}) {
  const { start, events, now, wall } = scenes[name];
  const [columns, rows] = size;
  const screen = createScreen({ ...start, ...changed });
  const frame = (given: { events?: typeof events; input?: string; fresh?: boolean }) =>
    screen.frame({ columns, rows, now, wall, ...given }).lines;
  return { lines: frame({ events, fresh: true }), press: (input: string) => frame({ input }) };
}

/** As a terminal tells what stands on it. */
function textOf(lines: readonly string[]): string {
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return `${text.trimEnd()}\n`;
}

test.each(sceneNames.flatMap((name) => sizes.map(([columns, rows]) => ({ name, columns, rows }))))(
  'the screen of $name at $columns × $rows',
  async ({ name, columns, rows }) => {
    const { lines } = open(name, [columns, rows]);
    await expect(textOf(lines)).toMatchFileSnapshot(goldenPath(`${name}-${columns}x${rows}`));
  },
);

test.each(sceneNames)('the screen of %s in ASCII', async (name) => {
  const { lines } = open(name, [80, 24], { ascii: true });
  await expect(textOf(lines)).toMatchFileSnapshot(goldenPath(`${name}-ascii`));
});

test('keys open the help, an event and a filter', async () => {
  const { press } = open('stream', [80, 24]);
  for (const [name, ...keys] of keyPictures) {
    const lines = keys.map(press).at(-1) ?? [];
    await expect(textOf(lines)).toMatchFileSnapshot(goldenPath(name));
  }
});

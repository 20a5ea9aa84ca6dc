import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { hasTmux, setUpTerminals } from '../helpers/tmux.ts';
import type { Scene } from './player.ts';
import {
  checkStart,
  conversation,
  loadNews,
  loadStart,
  serveNews,
  serveStart,
  streamStart,
  verdictNews,
  wall,
} from './screens.ts';

const root = join(import.meta.dirname, '..', '..');
let dir = '';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'voicectl-screen-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'player.ts')],
    outfile: join(dir, 'player.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    define: { __VERSION__: '"0.0.0"' },
  });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const scenes: Record<string, Omit<Scene, 'worker'>> = {
  stream: { start: streamStart, events: conversation(), now: 12_000, wall },
  serve: { start: serveStart, events: serveNews(), now: 8_000, wall },
  check: { start: checkStart, events: verdictNews(), now: 9_000, wall },
  load: { start: loadStart, events: loadNews(), now: 12_000, wall },
};
const sizes = [
  [60, 15],
  [80, 24],
  [160, 50],
] as const;

describe.skipIf(!hasTmux)('in a real terminal', { timeout: 120_000 }, () => {
  const terminals = setUpTerminals();

  function play(name: string, { columns, rows }: { columns: number; rows: number }, start = {}) {
    const scene = scenes[name]!;
    const worker = pathToFileURL(join(root, 'dist', 'draw-worker.js')).href;
    const file = join(dir, `${name}.json`);
    writeFileSync(file, JSON.stringify({ ...scene, start: { ...scene.start, ...start }, worker }));
    return terminals.start(`clear; ${process.execPath} ${join(dir, 'player.mjs')} ${file}`, {
      columns,
      rows,
    });
  }
  const settled = {
    stream: '19, following',
    serve: '12, following',
    check: '20 of 30',
    load: '2, following',
  } as Record<string, string>;
  const cases = Object.keys(scenes).flatMap((name) =>
    sizes.map(([columns, rows]) => ({ name, columns, rows })),
  );

  test.each(cases)('the screen of $name at $columns × $rows', async ({ name, columns, rows }) => {
    const screen = await play(name, { columns, rows }).settled(settled[name]!);
    await expect(`${screen}\n`).toMatchFileSnapshot(`golden/${name}-${columns}x${rows}.txt`);
  });

  test.each(Object.keys(scenes))('the screen of %s in ASCII', async (name) => {
    const screen = await play(name, { columns: 80, rows: 24 }, { ascii: true }).settled(settled[name]!);
    await expect(`${screen}\n`).toMatchFileSnapshot(`golden/${name}-ascii.txt`);
  });

  test.each(Object.keys(scenes))(
    'the screen of %s follows the size of the terminal, without a trace',
    async (name) => {
      const terminal = play(name, { columns: 80, rows: 24 });
      await terminal.settled(settled[name]!);
      for (const [columns, rows] of [...sizes, ...sizes.toReversed()]) {
        terminal.resize(columns, rows);
        // What was drawn at the other size stands there for a moment, and must be gone then.
        const golden = readFileSync(
          join(import.meta.dirname, 'golden', `${name}-${columns}x${rows}.txt`),
          'utf8',
        );
        await eventually(
          () => `${terminal.screen()}
`,
        ).toBe(golden);
      }
    },
  );

  test('keys open the help, an event and a filter, and q gives the terminal back', async () => {
    const terminal = play('stream', { columns: 80, rows: 24 });
    await terminal.settled('19, following');
    terminal.press('?');
    await expect(await terminal.settled('esc closes')).toMatchFileSnapshot('golden/help.txt');
    terminal.press('Escape', 'g', 'Enter');
    await expect(await terminal.settled('"device"')).toMatchFileSnapshot('golden/detail.txt');
    terminal.press('Escape', '/');
    terminal.type('dir:in status');
    await expect(await terminal.settled('1 of 19')).toMatchFileSnapshot('golden/filter.txt');
    terminal.press('Escape', 'q');
    await terminal.settled(/^\S*[$#]$/m);
    expect(terminal.flags()).toEqual({ cursor: true, alternate: false });
  });
});

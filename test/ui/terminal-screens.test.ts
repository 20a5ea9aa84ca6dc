import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasTmux, type PseudoTerminal, setUpTerminals } from '../helpers/tmux.ts';
import { goldenPath, keyPictures, type SceneName, sceneNames, scenes, sizes } from './golden.ts';
import type { Play } from './player.ts';

const worker = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'draw-worker.js')).href;
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

/** The pictures are drawn without a terminal (golden.test.ts): here a terminal shows the same. */
describe.skipIf(!hasTmux)('in a real terminal', { timeout: 120_000 }, () => {
  const terminals = setUpTerminals();

  function play(...names: SceneName[]) {
    const file = join(dir, 'play.json');
    const given: Play = { worker, scenes: names.map((name) => scenes[name]) };
    writeFileSync(file, JSON.stringify(given));
    const script = `clear; ${process.execPath} ${join(dir, 'player.mjs')} ${file}; echo it" is over"`;
    return terminals.start(script, { columns: 80, rows: 24 });
  }
  const expectPicture = (terminal: PseudoTerminal, name: string) =>
    expect.poll(async () => `${await terminal.screen()}\n`).toBe(readFileSync(goldenPath(name), 'utf8'));

  test('each screen follows the size of the terminal, and leaves nothing behind', async () => {
    const terminal = await play(...sceneNames);
    for (const name of sceneNames) {
      for (const [columns, rows] of [...sizes, ...sizes.toReversed()]) {
        terminal.resize(columns, rows);
        // What was drawn at the other size stands there for a moment, and must be gone then.
        await expectPicture(terminal, `${name}-${columns}x${rows}`);
      }
      terminal.press('q');
    }
    await expect.poll(terminal.screen).toContain('it is over');
  });

  test('keys open the help, an event and a filter, and q restores the terminal', async () => {
    const terminal = await play('stream');
    await expectPicture(terminal, 'stream-80x24');
    for (const [name, ...keys] of keyPictures) {
      for (const key of keys) terminal.type(key);
      await expectPicture(terminal, name);
    }
    terminal.press('Escape', 'q');
    await expect.poll(terminal.screen).toContain('it is over');
    expect(await terminal.flags()).toEqual({ cursor: true, alternate: false });
  });
});

import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import type { LoadResult } from '../../src/runs/load/result.ts';
import type { EmulatorEvent } from '../../src/service/events.ts';
import { hasTmux } from '../helpers/tmux.ts';
import { programsFor } from './real-terminal.ts';

describe.skipIf(!hasTmux).concurrent('a load run on a real terminal', { timeout: 120_000 }, () => {
  test.for(['q', 'C-c'])(
    '%s closes the streams with 1000, writes what was done and exits with 130',
    async (key, context) => {
      const { eventually, run, sandbox, expectRestored } = programsFor(context);
      const events: EmulatorEvent[] = [];
      const emulator = await createEmulator({ onEvent: (event) => events.push(event) });
      sandbox.defer(emulator.close);
      const flags = '--sessions 30 --arrival constant:5/s --task listen --hold 100s --out result.json';
      const terminal = await run(`load --base-url ${emulator.baseUrl} ${flags}`);
      await eventually(terminal.screen).toMatch(/^ confirmed +\d/m);
      terminal.press(key);
      await expectRestored(terminal, 130);
      expect(await terminal.screen()).toContain('Interrupted');
      const { counts, stopped }: LoadResult = JSON.parse(sandbox.read('result.json'));
      expect(stopped).toBe('Interrupted');
      expect(counts.confirmed).toBeGreaterThan(0);
      expect(counts).toMatchObject({ done: 0, stopped: counts.arrived });
      const codes = () => events.flatMap((event) => (event.type === 'stream-closed' ? [event.code] : []));
      await eventually(codes).toHaveLength(events.filter(({ type }) => type === 'stream-opened').length);
      expect(codes().filter((code) => code === 1000).length).toBeGreaterThanOrEqual(counts.confirmed);
    },
  );

  test('once a key was pressed the screen stays, and q leaves it when the generators have ended', async (context) => {
    const { eventually, run, sandbox, expectRestored } = programsFor(context);
    const emulator = await createEmulator();
    sandbox.defer(emulator.close);
    const flags = '--sessions 2 --arrival burst:2 --task listen --hold 2s --processes 1';
    const terminal = await run(`load --base-url ${emulator.baseUrl} ${flags}`);
    await eventually(terminal.screen).toMatch(/^ confirmed +\d/m);
    terminal.press('Down');
    await eventually(terminal.screen).toContain('Done: q quits');
    terminal.press('q');
    // A run that this machine was too busy for is not valid.
    await expectRestored(terminal, 0, 9);
  });
});

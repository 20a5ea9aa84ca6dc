import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasTmux } from '../helpers/tmux.ts';
import { programsFor } from './real-terminal.ts';

const device = join(import.meta.dirname, '..', '..', 'examples', 'devices', 'device.js');

describe.skipIf(!hasTmux)('a drill on a real terminal', { timeout: 120_000 }, () => {
  test('q in the middle leaves at once, with the verdicts so far', async (context) => {
    const { eventually, run, expectRestored } = programsFor(context);
    const terminal = await run(`drill --situation D1 --situation D5 -- '${process.execPath}' '${device}'`);
    await eventually(terminal.screen).toContain('✓ D1');
    terminal.press('q');
    await expectRestored(terminal, 130);
    expect(await terminal.screen()).toMatch(/^D1 +pass /m);
    expect(await terminal.screen()).toContain('Interrupted');
  });
});

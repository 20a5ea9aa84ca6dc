import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Command, CommandContext } from '../../src/commands/command.ts';
import { createRunner } from '../../src/commands/runner.ts';
import type { Io } from '../../src/kernel/io.ts';

/** What a command is told of its output, run before a terminal with these settings. */
async function outputWith(flags: Record<string, unknown>, asked?: 'tui') {
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const io = {
    stdin: new PassThrough(),
    stdout: output,
    stderr: output,
    terminal: {},
    env: { TERM: 'xterm' },
    cwd: '/',
    onSignal: () => () => {},
    onCrash() {},
  };
  let found: string | undefined;
  const command = {
    spec: {
      name: 'stream',
      options: ['apiKeyFile', 'tokenFrom', 'file', 'device', 'out', 'repeat'],
      hasScreen: ({ repeat }: { repeat: number }) => repeat === 1,
    },
    load: async () => async (context: CommandContext<'device'>) => {
      found = context.output;
      return 0;
    },
  };
  const run = createRunner(io as unknown as Io, { formed() {}, hungUp() {} });
  await run(command as unknown as Command, { ...flags, ...(asked && { output: asked }) }, []);
  return found;
}

test('a command on a terminal has its screen', async () => {
  expect(await outputWith({ device: '-', apiKeyFile: 'key.txt' })).toBe('tui');
});

test('but not if the command has none with these settings', async () => {
  expect(await outputWith({ repeat: '2' })).toBe('plain');
  expect(await outputWith({ repeat: '2' }, 'tui')).toBe('plain');
});

test.each(['apiKeyFile', 'tokenFrom', 'file', 'out'])(
  'but not where --%s names a standard stream',
  async (name) => {
    expect(await outputWith({ [name]: '-' })).toBe('plain');
    expect(await outputWith({ [name]: '-' }, 'tui')).toBe('plain');
  },
);

import { describe, test } from 'vitest';
import { hasTmux } from '../helpers/tmux.ts';
import { programsFor } from './real-terminal.ts';

/** `npm run signals` also sends those that take the same way as another, or as a key of `terminal-keys.test.ts`. */
const isWhole = process.env.SIGNAL_MOMENTS !== undefined;
const rows = <Row>(sample: readonly Row[], rest: readonly Row[]) => [...sample, ...(isWhole ? rest : [])];

describe.skipIf(!hasTmux).concurrent('signals on a real terminal', { timeout: 120_000 }, () => {
  test.for(
    rows<[NodeJS.Signals, number]>(
      [
        ['SIGTERM', 143],
        ['SIGHUP', 129],
        ['SIGALRM', 142],
      ],
      [
        ['SIGINT', 130],
        ['SIGQUIT', 131],
      ],
    ),
  )('%s from outside restores the terminal from the screen of a session', async ([signal, code], context) => {
    const { stream, run, pidOf, expectRestored, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    process.kill(pidOf(terminal), signal);
    await expectRestored(terminal, code);
  });

  test.for(
    // To be asked to end is what an emulator waits for.
    rows<[NodeJS.Signals, number]>([['SIGTERM', 0]], [['SIGALRM', 142]]),
  )(
    '%s from outside restores the terminal from the screen of an emulator',
    async ([signal, code], context) => {
      const { eventually, run, pidOf, expectRestored } = programsFor(context);
      const terminal = await run('serve --port 0');
      await eventually(terminal.screen).toContain('● listening');
      process.kill(pidOf(terminal), signal);
      await expectRestored(terminal, code);
    },
  );

  test('SIGTSTP from outside restores the terminal, and fg continues', async (context) => {
    const { eventually, run, pidOf, expectRestored } = programsFor(context);
    const terminal = await run('serve --port 0');
    await eventually(terminal.screen).toContain('● listening');
    process.kill(pidOf(terminal), 'SIGTSTP');
    await expectRestored(terminal, 148);
    terminal.type('fg');
    terminal.press('Enter');
    await eventually(terminal.flags).toEqual({ cursor: false, alternate: true });
    terminal.press('q');
    await eventually(terminal.flags).toEqual({ cursor: true, alternate: false });
  });

  test.for(rows<[NodeJS.Signals, number]>([['SIGTERM', 143]], [['SIGQUIT', 131]]))(
    '%s restores the terminal from plain lines with a microphone',
    async ([signal, code], context) => {
      const { eventually, pidOf, runWithMicrophone, expectRestored } = programsFor(context);
      const terminal = await runWithMicrophone();
      await eventually(terminal.screen).toContain('· state  live');
      process.kill(pidOf(terminal), signal);
      await expectRestored(terminal, code);
    },
  );

  test('a terminal that is closed ends the program', async (context) => {
    const { eventually, stream, run, pidOf, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    const pid = pidOf(terminal);
    await terminal.close();
    await eventually(() => isRunning(pid)).toBe(false);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

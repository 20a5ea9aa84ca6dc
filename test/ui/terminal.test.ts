import { describe, expect, test } from 'vitest';
import { startFloodingService } from '../helpers/flooding-service.ts';
import { hasTmux } from '../helpers/tmux.ts';
import { fixture } from '../helpers/voicectl.ts';
import { programsFor } from './real-terminal.ts';

describe.skipIf(!hasTmux).concurrent('on a real terminal', { timeout: 120_000 }, () => {
  test('a session draws on the alternate screen, ends by itself, and leaves its summary', async (context) => {
    const { eventually, startSession, expectRestored } = programsFor(context);
    const { terminal, end } = await startSession();
    await eventually(terminal.screen).toMatch(/voicectl stream .*(live|draining)/);
    expect(await terminal.flags()).toEqual({ cursor: false, alternate: true });
    await eventually(terminal.screen).toMatch(/first audio +\d/);
    end();
    await expectRestored(terminal, 0);
    // Its last turn may have ended without a reply.
    expect(await terminal.screen()).toMatch(/first audio .*\n(.*\n)*result +ok in/);
  });

  test('a crash restores the terminal, and its stack stays visible', async (context) => {
    const { stream, run, pidOf, expectRestored, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    process.kill(pidOf(terminal), 'SIGUSR2');
    await expectRestored(terminal, 70);
    expect(await terminal.screen()).toContain('broken for the test');
  });

  test('an error before the first frame never touches the terminal', async (context) => {
    const { run, expectRestored } = programsFor(context);
    const terminal = await run('stream --file missing.wav --local');
    await expectRestored(terminal, 2);
    expect(await terminal.screen()).toContain('missing.wav');
  });

  test('serve has a screen: it acts on the emulator, and q stops it', async (context) => {
    const { eventually, run, expectRestored } = programsFor(context);
    const terminal = await run('serve --port 0');
    await eventually(terminal.screen).toContain('● listening');
    terminal.press('+');
    await eventually(terminal.screen).toContain('clock +61 s');
    terminal.press('f', 'Enter', 'Enter');
    await eventually(terminal.screen).toMatch(/! 1 active: \w/);
    terminal.press('s');
    await eventually(terminal.screen).toMatch(/Saved voicectl-.*\.jsonl/);
    terminal.press('q');
    await expectRestored(terminal, 0);
    expect(await terminal.screen()).toContain('0 tokens, 0 streams');
  });

  // The other reasons for lines: test/report/output-form.test.ts.
  test.for<[what: string, flag: string, variables: string, expected: RegExp]>([
    ['-q', '-q', '', /^[^·]*is over/],
    ['CI', '', 'CI=1', /· state {2}closed/],
  ])('with %s there is no screen', async ([, flag, variables, expected], context) => {
    const { run, expectRestored } = programsFor(context);
    const words = `stream --file ${fixture('hello.wav')} --local --duration 300ms ${flag}`;
    const terminal = await run(words, variables);
    await expectRestored(terminal, 0);
    expect(await terminal.screen()).toMatch(expected);
  });

  test('a check shows its rules as they are judged, and leaves the verdicts as lines', async (context) => {
    const { run, expectRestored } = programsFor(context);
    const terminal = await run('check --local --rule R12 --rule R15');
    await expectRestored(terminal, 0);
    expect(await terminal.screen()).toMatch(/R12 {2}pass .*\nR15 {2}pass /);
  });
});

// Its service leaves this process little time for other tests.
test.skipIf(!hasTmux)(
  'a flood of messages is shown, the state of the session above it, and Ctrl-C ends it',
  { timeout: 120_000 },
  async (context) => {
    const { eventually, sandbox, run, expectRestored, live } = programsFor(context);
    const { baseUrl } = await startFloodingService(sandbox);
    const terminal = await run(`stream --file ${fixture('hello.wav')} --loop --base-url ${baseUrl}`);
    await live(terminal);
    await eventually(terminal.screen).toContain('too many to show');
    terminal.press('C-c');
    await expectRestored(terminal, 130);
  },
);

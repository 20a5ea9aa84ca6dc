import { describe, expect, test } from 'vitest';
import { hasTmux } from '../helpers/tmux.ts';
import { programsFor } from './real-terminal.ts';

describe.skipIf(!hasTmux).concurrent('keys on a real terminal', { timeout: 120_000 }, () => {
  test('r connects again with a fresh token once the session is over', async (context) => {
    const { eventually, startSession, expectRestored, live } = programsFor(context);
    const { terminal, end } = await startSession();
    await live(terminal);
    terminal.press('?');
    await eventually(() => terminal.screen()).toContain('this help');
    end();
    await eventually(() => terminal.screen()).toContain('closed, ok');
    terminal.press('Escape', 'r');
    await live(terminal);
    // The window of the same device: another token was asked for.
    await eventually(() => terminal.screen()).toContain('58 of 60');
    terminal.press('q');
    await expectRestored(terminal, 0);
  });

  test('q lets the reply be heard, and ends well', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = run(stream);
    await live(terminal);
    terminal.press('q');
    await expectRestored(terminal, 0);
  });

  test('q twice ends at once', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = run(stream);
    await live(terminal);
    terminal.press('q', 'q');
    await expectRestored(terminal, 130);
  });

  test('Ctrl-C closes the stream and gives the terminal back', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-c');
    await expectRestored(terminal, 130);
    expect(terminal.screen()).toMatch(/close +1000 normal/);
  });

  test('Ctrl-C twice gives the terminal back too', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-c', 'C-c');
    await expectRestored(terminal, 130);
  });

  test('Ctrl-\\ ends at once, and gives the terminal back', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-\\');
    await expectRestored(terminal, 131);
  });

  test('Ctrl-Z gives the terminal back while the program rests, and fg goes on where it was', async (context) => {
    const { eventually, sandbox, stream, run, live } = programsFor(context);
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-z');
    await eventually(() => terminal.flags()).toEqual({ cursor: true, alternate: false });
    // The shell has seen that it stopped: 128 and SIGTSTP.
    await eventually(() => terminal.screen()).toContain('it is over');
    expect(sandbox.read('code').trim()).toBe('148');
    expect(sandbox.read('after')).toBe(sandbox.read('before'));
    terminal.type('fg');
    terminal.press('Enter');
    await eventually(() => terminal.flags()).toEqual({ cursor: false, alternate: true });
    await eventually(() => terminal.screen()).toContain('voicectl stream');
    terminal.press('C-c');
    await eventually(() => terminal.flags()).toEqual({ cursor: true, alternate: false });
    terminal.type('stty -a >after');
    terminal.press('Enter');
    await eventually(() => sandbox.read('after')).toBe(sandbox.read('before'));
  });

  test('Ctrl-Z stops plain lines with a microphone, fg continues them, and keys work again', async (context) => {
    const { eventually, sandbox, runWithMicrophone, expectRestored } = programsFor(context);
    const terminal = runWithMicrophone();
    await eventually(() => terminal.screen()).toContain('· live');
    terminal.press('m');
    await eventually(() => terminal.screen()).toContain('microphone muted');
    terminal.press('C-z');
    await expectRestored(terminal, 148);
    terminal.type('clear; fg; stty -a >after; echo all" is over"');
    terminal.press('Enter');
    await eventually(() => terminal.screen()).toMatch(/↑ \d+ frames/);
    terminal.press('m');
    await eventually(() => terminal.screen()).toContain('microphone on');
    terminal.press('C-\\');
    await eventually(() => terminal.screen()).toContain('all is over');
    expect(sandbox.read('after')).toBe(sandbox.read('before'));
  });
});

import { describe, expect, test } from 'vitest';
import { hasTmux } from '../helpers/tmux.ts';
import { programsFor } from './real-terminal.ts';

describe.skipIf(!hasTmux).concurrent('keys on a real terminal', { timeout: 120_000 }, () => {
  test('a session stays open once a key was pressed: r connects again with a new token, q ends it', async (context) => {
    const { eventually, sandbox, startSession, expectRestored, live } = programsFor(context);
    const { terminal, end } = await startSession();
    await live(terminal);
    terminal.press('?');
    await eventually(terminal.screen).toContain('this help');
    end(1011);
    await eventually(terminal.screen).toContain('closed, failed');
    terminal.press('Escape', 'r');
    await live(terminal);
    // The window of the same device: another token was asked for.
    await eventually(terminal.screen).toContain('58 of 60');
    end();
    await eventually(terminal.screen).toContain('closed, ok');
    terminal.press('q');
    await expectRestored(terminal, 0);
    // The reports are about the session that the exit code is about.
    expect(sandbox.read('j.xml')).toMatch(/<testsuites [^>]*tests="2" failures="0" errors="0"/);
  });

  test('a paste is no series of keys: it is ignored, or added to the filter that is being typed', async (context) => {
    const { eventually, run, expectRestored } = programsFor(context);
    const terminal = await run('serve --port 0');
    await eventually(terminal.screen).toContain('voicectl serve');
    terminal.paste('?hello quit now\nq');
    terminal.press('/');
    terminal.paste('one\nquit');
    await eventually(terminal.screen).toContain('filter: one quit');
    terminal.press('Escape', 'q');
    await expectRestored(terminal, 0);
  });

  test('q lets the reply finish, and exits with success', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    terminal.press('q');
    await expectRestored(terminal, 0);
  });

  test('q twice ends at once', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    terminal.press('q', 'q');
    await expectRestored(terminal, 130);
  });

  test('Ctrl-C twice restores the terminal', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    terminal.press('C-c', 'C-c');
    await expectRestored(terminal, 130);
  });

  test('Ctrl-\\ ends at once, and restores the terminal', async (context) => {
    const { stream, run, expectRestored, live } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    terminal.press('C-\\');
    await expectRestored(terminal, 131);
  });

  test('Ctrl-Z restores the terminal and suspends the program, fg continues it, and Ctrl-C closes the stream', async (context) => {
    const { eventually, sandbox, stream, run, live, expectRestored } = programsFor(context);
    const terminal = await run(stream);
    await live(terminal);
    terminal.press('C-z');
    // The shell has seen that it stopped: 128 and SIGTSTP.
    await expectRestored(terminal, 148);
    terminal.type('clear; fg; echo $? >code; stty -a >after; echo all" is over"');
    terminal.press('Enter');
    await eventually(terminal.flags).toEqual({ cursor: false, alternate: true });
    await eventually(terminal.screen).toContain('voicectl stream');
    terminal.press('C-c');
    await eventually(terminal.screen).toContain('all is over');
    expect(await terminal.flags()).toEqual({ cursor: true, alternate: false });
    expect(sandbox.read('code').trim()).toBe('130');
    expect(sandbox.read('after')).toBe(sandbox.read('before'));
    expect(await terminal.screen()).toMatch(/close +1000 normal/);
  });

  test('Ctrl-Z stops plain lines with a microphone, fg continues them, and keys work again', async (context) => {
    const { eventually, sandbox, runWithMicrophone, expectRestored } = programsFor(context);
    const terminal = await runWithMicrophone();
    await eventually(terminal.screen).toContain('· state  live');
    terminal.press('m');
    await eventually(terminal.screen).toContain('microphone muted');
    terminal.press('C-z');
    await expectRestored(terminal, 148);
    terminal.type('clear; fg; stty -a >after; echo all" is over"');
    terminal.press('Enter');
    await eventually(terminal.screen).toMatch(/↑ audio {2}\d+ frames/);
    terminal.press('m');
    await eventually(terminal.screen).toContain('microphone on');
    terminal.press('C-\\');
    await eventually(terminal.screen).toContain('all is over');
    expect(sandbox.read('after')).toBe(sandbox.read('before'));
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { startFloodingService } from '../helpers/flooding-service.ts';
import { hasTmux, type PseudoTerminal, setUpTerminals } from '../helpers/tmux.ts';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';

/** On a machine that does much else, a first frame may take its time. */
function eventually<Value>(read: () => Value) {
  return expect.poll(read, { timeout: 60_000, interval: 20 });
}

/** A program that breaks at SIGUSR2, wherever it is at that moment. */
const breaking = `data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('broken for the test')})`;

describe.skipIf(!hasTmux)('on a real terminal', { timeout: 120_000 }, () => {
  // Ended in the reverse order: the terminals before the folder that they work in.
  const sandbox = setUpSandbox();
  const terminals = setUpTerminals();

  /** Runs voicectl between two looks at the settings of the terminal, and notes its exit code. */
  function run(words: string, variables = ''): PseudoTerminal {
    const bin = join(import.meta.dirname, '..', '..', 'bin', 'voicectl.js');
    const node = `${variables} ${process.execPath} --import "${breaking}" ${bin}`;
    return terminals.start(
      `set -m; ulimit -c 0; stty -a >before; ${node} ${words}; echo $? >code; stty -a >after; echo it" is over"`,
      { columns: 100, rows: 30, cwd: sandbox.dir, env: { HOME: sandbox.dir, CI: '' } },
    );
  }
  const stream = `stream --file ${fixture('two-turns.wav')} --local --loop --wait 1s --settle 300ms`;
  /** A session with an emulator of the test, which ends it when the test wants it. */
  async function startSession() {
    const emulator = await createEmulator();
    sandbox.defer(emulator.close);
    const file = fixture('two-turns.wav');
    const terminal = run(`stream --file ${file} --base-url ${emulator.baseUrl} --loop --expect-close 1000`);
    return { terminal, end: () => emulator.control.close({}, 1000, '') };
  }

  /** The pid of the program that has the terminal. */
  function pidOf(terminal: PseudoTerminal): number {
    const children = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8');
    return Number(children.trim().split(' ').at(-1));
  }

  /** A session in plain lines, with a program in place of the microphone. */
  function runWithMicrophone(): PseudoTerminal {
    const capture = 'setInterval(() => process.stdout.write(Buffer.alloc(640)), 20)';
    sandbox.write('bin/parec', `#!${process.execPath}\n${capture}\n`, 0o755);
    const flags = '--mic --no-play --audio-backend pulse --local --output plain';
    return run(`stream ${flags}`, 'PATH="$PWD/bin:$PATH"');
  }

  async function expectRestored(terminal: PseudoTerminal, code: number) {
    await eventually(() => terminal.screen()).toContain('it is over');
    expect(terminal.flags()).toEqual({ cursor: true, alternate: false });
    expect(sandbox.read('after')).toBe(sandbox.read('before'));
    expect(sandbox.read('code').trim()).toBe(String(code));
  }
  const live = (terminal: PseudoTerminal) => eventually(() => terminal.screen()).toMatch(/● (live|draining)/);

  test('a session draws on the alternate screen, ends by itself, and leaves its summary', async () => {
    const { terminal, end } = await startSession();
    await eventually(() => terminal.screen()).toMatch(/voicectl stream .*(live|draining)/);
    expect(terminal.flags()).toEqual({ cursor: false, alternate: true });
    await eventually(() => terminal.screen()).toMatch(/first audio +\d/);
    end();
    await expectRestored(terminal, 0);
    expect(terminal.screen()).toMatch(/first audio +\d.*\n(.*\n)*result +ok in/);
  });

  test('a session that somebody has looked into stays until q', async () => {
    const { terminal, end } = await startSession();
    await live(terminal);
    terminal.press('?');
    await eventually(() => terminal.screen()).toContain('this help');
    end();
    await eventually(() => terminal.screen()).toContain('closed, ok');
    terminal.press('Escape', 'q');
    await expectRestored(terminal, 0);
  });

  test('r connects again with a fresh token once the session is over', async () => {
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

  test('q lets the reply be heard, and ends well', async () => {
    const terminal = run(stream);
    await live(terminal);
    terminal.press('q');
    await expectRestored(terminal, 0);
  });

  test('q twice ends at once', async () => {
    const terminal = run(stream);
    await live(terminal);
    terminal.press('q', 'q');
    await expectRestored(terminal, 130);
  });

  test('Ctrl-C closes the stream and gives the terminal back', async () => {
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-c');
    await expectRestored(terminal, 130);
    expect(terminal.screen()).toMatch(/close +1000 normal/);
  });

  test('Ctrl-C twice gives the terminal back too', async () => {
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-c', 'C-c');
    await expectRestored(terminal, 130);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
    ['SIGALRM', 142],
  ] as const)('%s from outside gives the terminal back, from both screens', async (signal, code) => {
    const session = run(stream);
    await live(session);
    process.kill(pidOf(session), signal);
    await expectRestored(session, code);
    const emulator = run('serve --port 0');
    await eventually(() => emulator.screen()).toContain('● listening');
    process.kill(pidOf(emulator), signal);
    // To be asked to end is what an emulator waits for.
    await expectRestored(emulator, signal === 'SIGTERM' || signal === 'SIGINT' ? 0 : code);
  });

  test('a flood of messages is shown, the state of the session above it, and Ctrl-C ends it', async () => {
    const { baseUrl } = await startFloodingService(sandbox);
    const terminal = run(`stream --file ${fixture('hello.wav')} --loop --base-url ${baseUrl}`);
    await live(terminal);
    await eventually(() => terminal.screen()).toContain('too many to show');
    terminal.press('C-c');
    await expectRestored(terminal, 130);
  });

  test('Ctrl-\\ ends at once, and gives the terminal back', async () => {
    const terminal = run(stream);
    await live(terminal);
    terminal.press('C-\\');
    await expectRestored(terminal, 131);
  });

  test('SIGTSTP from outside gives the terminal back, and fg goes on', async () => {
    const terminal = run('serve --port 0');
    await eventually(() => terminal.screen()).toContain('● listening');
    process.kill(pidOf(terminal), 'SIGTSTP');
    await expectRestored(terminal, 148);
    terminal.type('fg');
    terminal.press('Enter');
    await eventually(() => terminal.flags()).toEqual({ cursor: false, alternate: true });
    terminal.press('q');
    await eventually(() => terminal.flags()).toEqual({ cursor: true, alternate: false });
  });

  test('a crash gives the terminal back, and its stack stays to be seen', async () => {
    const terminal = run(stream);
    await live(terminal);
    process.kill(pidOf(terminal), 'SIGUSR2');
    await expectRestored(terminal, 70);
    expect(terminal.screen()).toContain('broken for the test');
  });

  test('Ctrl-Z gives the terminal back while the program rests, and fg goes on where it was', async () => {
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

  test.each([
    ['SIGTERM', 143],
    ['SIGQUIT', 131],
    ['SIGALRM', 142],
  ] as const)('%s gives the terminal back from plain lines with a microphone', async (signal, code) => {
    const terminal = runWithMicrophone();
    await eventually(() => terminal.screen()).toContain('· live');
    process.kill(pidOf(terminal), signal);
    await expectRestored(terminal, code);
  });

  test('Ctrl-Z stops plain lines with a microphone, fg continues them, and keys work again', async () => {
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

  test('a terminal that is closed ends the program', async () => {
    const terminal = run(stream);
    await live(terminal);
    const pid = pidOf(terminal);
    terminal.close();
    await eventually(() => isRunning(pid)).toBe(false);
  });

  test('an error before the first frame never touches the terminal', async () => {
    const terminal = run('stream --file missing.wav --local');
    await expectRestored(terminal, 2);
    expect(terminal.screen()).toContain('missing.wav');
  });

  test('serve has a screen: it acts on the emulator, and q stops it', async () => {
    const terminal = run('serve --port 0');
    await eventually(() => terminal.screen()).toContain('● listening');
    terminal.press('+');
    await eventually(() => terminal.screen()).toContain('clock +61 s');
    terminal.press('f', 'Enter', 'Enter');
    await eventually(() => terminal.screen()).toContain('! 1 active: token-error');
    terminal.press('s');
    await eventually(() => terminal.screen()).toMatch(/Saved voicectl-.*\.jsonl/);
    terminal.press('q');
    await expectRestored(terminal, 0);
    expect(terminal.screen()).toContain('0 tokens, 0 streams');
  });

  test.each([
    ['--output plain', /\d\.\d{3} {2}· token/],
    ['--json', /"type":"session"/],
    ['-q', /is over/],
  ])('with %s there is no screen', async (flag, expected) => {
    const terminal = run(`stream --file ${fixture('hello.wav')} --local --duration 300ms ${flag}`);
    await expectRestored(terminal, 0);
    expect(terminal.screen()).toMatch(expected);
  });

  test('CI and a dumb terminal have lines in place of a screen', async () => {
    const terminal = run(`stream --file ${fixture('hello.wav')} --local --duration 300ms`);
    terminal.close();
    for (const variable of ['CI=1', 'TERM=dumb']) {
      const other = terminals.start(
        `${variable} ${process.execPath} ${join(import.meta.dirname, '..', '..', 'bin', 'voicectl.js')} stream --file ${fixture('hello.wav')} --local --duration 300ms`,
        { columns: 100, rows: 40, cwd: sandbox.dir },
      );
      await eventually(() => other.screen()).toContain('· connecting');
    }
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

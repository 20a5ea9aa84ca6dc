import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, vi } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { type PseudoTerminal, terminalsFor } from '../helpers/tmux.ts';
import { fixture, sandboxFor } from '../helpers/voicectl.ts';

// A screen that takes ten seconds to its first frame gives up.
vi.setConfig({ maxConcurrency: 3 });

/** A program that breaks at SIGUSR2, wherever it is at that moment. */
const breaking = `data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('broken for the test')})`;

/** The program on real terminals, with what a test looks at. Several tests may run at a time. */
export function programsFor(context: TestContext) {
  // Ended in the reverse order: the terminals before the folder that they work in.
  const sandbox = sandboxFor(context);
  const terminals = terminalsFor(context);
  /** On a machine that does much else, a first frame may take its time. */
  const eventually = <Value>(read: () => Value) =>
    context.expect.poll(read, { timeout: 60_000, interval: 50 });

  /** Runs voicectl between two looks at the settings of the terminal, and notes its exit code. */
  function run(words: string, variables = ''): Promise<PseudoTerminal> {
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
    const terminal = await run(
      `stream --file ${file} --base-url ${emulator.baseUrl} --loop --expect-close 1000 --junit j.xml`,
    );
    return { terminal, end: (code = 1000) => emulator.control.close({}, code, '') };
  }

  /** The pid of the program that has the terminal. */
  function pidOf(terminal: PseudoTerminal): number {
    const children = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8');
    return Number(children.trim().split(' ').at(-1));
  }

  /** A session in plain lines, with a program in place of the microphone. */
  function runWithMicrophone(): Promise<PseudoTerminal> {
    const capture = 'setInterval(() => process.stdout.write(Buffer.alloc(640)), 20)';
    sandbox.write('bin/parec', `#!${process.execPath}\n${capture}\n`, 0o755);
    const flags = '--mic --no-play --audio-backend pulse --local --output plain';
    return run(`stream ${flags}`, 'PATH="$PWD/bin:$PATH"');
  }

  async function expectRestored(terminal: PseudoTerminal, ...codes: number[]) {
    await eventually(terminal.screen).toContain('it is over');
    expect(await terminal.flags()).toEqual({ cursor: true, alternate: false });
    expect(sandbox.read('after')).toBe(sandbox.read('before'));
    expect(codes).toContain(Number(sandbox.read('code')));
  }
  const live = (terminal: PseudoTerminal) => eventually(terminal.screen).toMatch(/● (live|draining)/);

  return {
    ...{ eventually, sandbox, terminals, stream },
    ...{ run, startSession, pidOf, runWithMicrophone, expectRestored, live },
  };
}

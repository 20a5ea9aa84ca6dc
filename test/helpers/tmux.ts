import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, type TestContext } from 'vitest';
import { eventually } from './eventually.ts';

/** Whether there is a tmux to run terminals in; says so loudly where there is none. */
export const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) process.stderr.write('SKIPPED: tests in a real terminal need tmux (apt-get install tmux)\n');

export interface TerminalOptions {
  columns: number;
  rows: number;
  cwd?: string;
  env?: Record<string, string>;
}

/** A real pseudo-terminal with a program in it. */
export interface PseudoTerminal {
  /** What is on it, line by line. */
  screen(): string;
  /** Presses keys by the names that tmux gives them, such as `Enter`, `C-c` or `Up`. */
  press(...keys: string[]): void;
  /** Types text. */
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Whether the cursor is to be seen, and whether the alternate screen is shown. */
  flags(): { cursor: boolean; alternate: boolean };
  /** Resolves with the screen when this stands on it, and nothing moves any more. */
  settled(text: string | RegExp): Promise<string>;
  /** Closes the terminal under the program. */
  close(): void;
  /** The process that the terminal was started with. */
  readonly pid: number;
}

let count = 0;

/** Starts terminals, and ends them after each test. */
export function setUpTerminals() {
  const terminals = createTerminals();
  afterEach(terminals.close);
  return terminals;
}

/** The same for one test, of several that run at a time. */
export function terminalsFor({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const terminals = createTerminals();
  onTestFinished(terminals.close);
  return terminals;
}

function createTerminals() {
  const servers: string[] = [];
  const run = (server: string, ...args: string[]) =>
    execFileSync('tmux', ['-u', '-L', server, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C.UTF-8', TMUX: '' },
    });
  return {
    close() {
      for (const server of servers.splice(0)) spawnSync('tmux', ['-L', server, 'kill-server']);
    },
    /** Runs `sh` with this script in a terminal of its own. */
    start(script: string, { columns, rows, cwd = '/', env = {} }: TerminalOptions): PseudoTerminal {
      count += 1;
      const target = `terminal${count}:`;
      // A server each: one that is ending does not take another terminal.
      const server = `voicectl-test-${process.pid}-${count}`;
      servers.push(server);
      const tmux = (...args: string[]) => run(server, ...args);
      const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
      const size = ['-x', String(columns), '-y', String(rows)];
      const begin = ['new-session', '-d', '-s', `terminal${count}`, ...size, '-c', cwd, ...variables, 'sh'];
      // Each call starts a process.
      const pid = tmux(...begin, ';', 'display-message', '-p', '-t', target, '#{pane_pid}');
      const screen = () =>
        tmux('capture-pane', '-p', '-t', target)
          .split('\n')
          .map((line) => line.trimEnd())
          .join('\n')
          .trimEnd();
      const ask = (format: string) => tmux('display-message', '-p', '-t', target, format).trim();
      const type = (text: string) => void tmux('send-keys', '-t', target, '-l', text);
      const press = (...keys: string[]) => void tmux('send-keys', '-t', target, ...keys);
      // What is typed before the shell has its prompt stands in front of it.
      while (screen() === '');
      tmux('send-keys', '-t', target, '-l', script, ';', 'send-keys', '-t', target, 'Enter');
      return {
        screen,
        press,
        type,
        resize: (width, height) =>
          void tmux('resize-window', '-t', target, '-x', String(width), '-y', String(height)),
        flags() {
          const [cursor, alternate] = ask('#{cursor_flag} #{alternate_on}').split(' ');
          return { cursor: cursor === '1', alternate: alternate === '1' };
        },
        async settled(text) {
          let before: string[] = [];
          const look = () => {
            const now = screen();
            before = [now, ...before].slice(0, 3);
            const isThere = typeof text === 'string' ? now.includes(text) : text.test(now);
            const isStill = before.length === 3 && before.every((one) => one === now);
            return isThere && isStill ? 'settled' : `${text} is not there, or it still moves:\n${now}`;
          };
          // Each look starts a process.
          await eventually(look, { interval: 50 }).toBe('settled');
          return before[0] ?? '';
        },
        close: () => void tmux('kill-session', '-t', target),
        pid: Number(pid.trim()),
      };
    },
  };
}

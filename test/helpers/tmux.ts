import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, type TestContext } from 'vitest';
import { createWatch } from './watch.ts';

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
  screen(): Promise<string>;
  /** Presses keys by the names that tmux gives them, such as `Enter`, `C-c` or `Up`. */
  press(...keys: string[]): void;
  /** Types text. */
  type(text: string): void;
  /** Pastes text, as a terminal does: marked as such if the program asks for that. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Whether the cursor is to be seen, and whether the alternate screen is shown. */
  flags(): Promise<{ cursor: boolean; alternate: boolean }>;
  /** Closes the terminal under the program. */
  close(): Promise<void>;
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
  const started: PseudoTerminal[] = [];
  return {
    async close() {
      await Promise.all(started.splice(0).map((terminal) => terminal.close()));
    },
    /** Runs `sh` with this script in a terminal of its own. */
    async start(script: string, options: TerminalOptions): Promise<PseudoTerminal> {
      const terminal = await startTerminal(script, options);
      started.push(terminal);
      return terminal;
    },
  };
}

async function startTerminal(
  script: string,
  { columns, rows, cwd = '/', env = {} }: TerminalOptions,
): Promise<PseudoTerminal> {
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const tmux = startTmux('new-session', '-c', cwd, ...variables, 'sh');
  // The prompt: what is typed before it stands in front of it.
  await tmux.output;
  // Nothing is left where the tests end without a word.
  void tmux.ask('set-option destroy-unattached on');
  const resize = (width: number, height: number) => void tmux.ask(`refresh-client -C ${width}x${height}`);
  resize(columns, rows);
  const type = (text: string) => void tmux.ask(`send-keys -l ${quote(text)}`);
  const press = (...keys: string[]) => void tmux.ask(`send-keys ${keys.map(quote).join(' ')}`);
  const paste = (text: string) => {
    // One command is one line: only in double quotes a line break has a spelling.
    void tmux.ask(`set-buffer ${JSON.stringify(text)}`);
    void tmux.ask('paste-buffer -p');
  };
  const pid = Number(await tmux.ask(`display-message -p '#{pane_pid}'`));
  type(script);
  press('Enter');
  return {
    press,
    type,
    paste,
    resize,
    async screen() {
      const lines = (await tmux.ask('capture-pane -p')).split('\n');
      return lines
        .map((line) => line.trimEnd())
        .join('\n')
        .trimEnd();
    },
    async flags() {
      const flags = await tmux.ask(`display-message -p '#{cursor_flag} #{alternate_on}'`);
      const [cursor, alternate] = flags.split(' ');
      return { cursor: cursor === '1', alternate: alternate === '1' };
    },
    close: tmux.close,
    pid,
  };
}

/**
 * Starts a server of tmux and one client of it that takes commands on standard input (CONTROL MODE in its manual): a
 * process for each look would take most of the time of a test.
 */
function startTmux(...command: string[]) {
  count += 1;
  const server = `voicectl-test-${process.pid}-${count}`;
  const client = spawn('tmux', ['-u', '-L', server, '-f', '/dev/null', '-C', ...command], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, LC_ALL: 'C.UTF-8', TMUX: '' },
  });
  const ended = once(client, 'close');
  // It may end before it has read everything.
  client.stdin.on('error', () => {});
  const watch = createWatch();
  let hasOutput = false;
  const waiting: ((answer: { ok: boolean; text: string }) => void)[] = [];
  const next = () => new Promise<{ ok: boolean; text: string }>((resolve) => waiting.push(resolve));
  let block: { id: string; lines: string[] } | undefined;
  createInterface(client.stdout).on('line', (line) => {
    const [, kind, id = ''] = /^%(begin|end|error) (\d+ \d+ \d+)$/.exec(line) ?? [];
    if (block === undefined) {
      if (kind === 'begin') block = { id, lines: [] };
      hasOutput ||= line.startsWith('%output');
      watch.changed();
    } else if (kind !== 'begin' && id === block.id) {
      waiting.shift()?.({ ok: kind === 'end', text: block.lines.join('\n') });
      block = undefined;
    } else block.lines.push(line);
  });
  // The first answer is to the command that it was started with.
  void next();
  return {
    async ask(line: string): Promise<string> {
      client.stdin.write(`${line}\n`);
      const { ok, text } = await next();
      if (!ok) throw new Error(`tmux ${line}: ${text}`);
      return text;
    },
    /** Resolves when the program in it has written something. */
    output: watch.until(() => hasOutput),
    async close() {
      client.stdin.end();
      await ended;
    },
  };
}

/** A word for the command language of tmux, in which nothing in single quotes has a meaning. */
const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

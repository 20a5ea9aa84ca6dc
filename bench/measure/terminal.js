import { spawn, spawnSync } from 'node:child_process';

/** Escape sequences: what is left of an output without them can be read. */
const escapes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-Z\\-_])/g;

/** Why nothing can be measured in a terminal here; undefined where it can. */
export function whyNoTerminal() {
  const hasScript = spawnSync('script', ['--version']).status === 0;
  return hasScript ? undefined : 'util-linux `script` is not installed';
}

/**
 * Runs a command line in a pseudo-terminal of 80 by 24.
 *
 * @param {readonly string[]} command
 * @param {{ env?: Record<string, string>, onText?: (text: string) => void }} [options] `onText` is given what can be
 *   read of all that was written so far.
 */
export function runInTerminal(command, { env = {}, onText } = {}) {
  const line = ['stty rows 24 cols 80;', 'exec', ...command.map(quote)].join(' ');
  const { CI: _, NO_COLOR: __, ...inherited } = process.env;
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: { ...inherited, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    onText?.(output.replaceAll(escapes, '').trim());
  });
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => child.once('close', () => resolve(output)));
  return {
    ended,
    async stop() {
      child.stdin.write('\u0003');
      const kill = setTimeout(() => child.kill('SIGKILL'), 3_000);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** @param {string} word */
function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

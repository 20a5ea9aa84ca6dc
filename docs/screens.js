import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ansiToSvg } from './ansi-svg.js';

/**
 * Makes the pictures in the README from the real program in a real terminal (tmux), with sessions scripted by
 * what the fixtures say. Run with `npm run screens`.
 */
const root = join(import.meta.dirname, '..');
const socket = `voicectl-screens-${process.pid}`;
const [columns, rows] = [100, 30];
const program = `${process.execPath} bin/voicectl.js`;

try {
  await drawStream();
  await drawServe();
} finally {
  tmux('kill-server');
}

/** A user who talks over the AI, on and on. */
async function drawStream() {
  open('stream', `${program} stream --file fixtures/two-turns.wav --local --loop --device kitchen-1`);
  await until('stream', /00:(1[5-9]|[2-5]\d)[\s\S]*▲ barge-in/);
  picture('stream', 'The screen of a session');
  press('stream', 'C-c');
}

/** Three devices, of which one is in trouble. */
async function drawServe() {
  open('serve', `${program} serve`);
  await until('serve', /listening/);
  const devices = ['kitchen-1', 'kitchen-1', 'hall', 'workshop'].map((device, index) =>
    spawn(
      process.execPath,
      [
        'bin/voicectl.js',
        'stream',
        ...[
          '--file',
          `fixtures/${index % 2 === 0 ? 'two-turns' : 'hello'}.wav`,
          '--loop',
          '--device',
          device,
        ],
        // The workshop's clock is wrong: it sends far too fast.
        ...['--quiet', '--pace', device === 'workshop' ? '1.6' : 'realtime'],
      ],
      { cwd: root, stdio: 'ignore' },
    ),
  );
  await until('serve', /streams ─+ 4/);
  press('serve', 'f');
  await until('serve', /faults/);
  tmux('send-keys', '-t', 'serve:', '-l', 'drop');
  await until('serve', /with drop/);
  press('serve', 'Enter');
  await until('serve', /fault: drop/);
  tmux('send-keys', '-t', 'serve:', '-l', ':probability=0.1');
  press('serve', 'Enter');
  await until('serve', /! 1 active/);
  await until('serve', /real time/);
  await until('serve', /00:(1[2-9]|[2-5]\d)/);
  picture('serve', 'The screen of the emulator');
  for (const device of devices) device.kill();
  press('serve', 'q');
}

/** @param {...string} args */
function tmux(...args) {
  const env = { ...process.env, LC_ALL: 'C.UTF-8', CI: '', TMUX: '' };
  return execFileSync('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
}

/** @param {string} name @param {string} command */
function open(name, command) {
  tmux('new-session', '-d', '-s', name, '-x', String(columns), '-y', String(rows), command);
}

/** @param {string} name @param {...string} keys */
function press(name, ...keys) {
  tmux('send-keys', '-t', `${name}:`, ...keys);
}

/** @param {string} name @param {RegExp} expected */
async function until(name, expected) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (expected.test(tmux('capture-pane', '-p', '-t', `${name}:`))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${expected} never stood on the screen of ${name}`);
}

/** @param {string} name @param {string} title */
function picture(name, title) {
  const screen = tmux('capture-pane', '-p', '-e', '-t', `${name}:`);
  writeFileSync(join(import.meta.dirname, `${name}.svg`), ansiToSvg(screen, { columns, title }));
}

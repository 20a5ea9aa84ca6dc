import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';

/**
 * What the screens cost, measured on the real program in a real terminal (tmux, 160 × 50): whether audio still leaves
 * on time while a session is drawn, what `serve` takes of a core under load, and how soon the first frame is there.
 * Run with `npm run bench:screen`, on a machine that does nothing else; parts can be named: on-time, load, first-frame.
 */
const root = join(import.meta.dirname, '..');
const program = join(root, 'bin', 'voicectl.js');
const socket = `voicectl-bench-${process.pid}`;
const frameMs = 20;

const parts = { 'on-time': onTime, load, 'first-frame': firstFrame };
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
for (const name of chosen) await parts[name]();
process.exit(0);

/** How far frames arrive after 20 ms × their number, drawn and as JSON, turn by turn. */
async function onTime() {
  const seconds = 20;
  const forms = { tui: '', json: '--output json >/dev/null' };
  const late = { tui: [], json: [] };
  const service = await startService();
  for (let turn = 0; turn < 3; turn += 1) {
    for (const [form, flags] of Object.entries(forms)) {
      const arrivals = service.arrivalsOfNext();
      await inTerminal(
        `VOICECTL_TOKEN=${token()} ${process.execPath} ${program} stream --file ${join(root, 'fixtures', 'two-turns.wav')} --loop --duration ${seconds}s --token-from VOICECTL_TOKEN --ws-url ${service.url} ${flags}`,
        () => arrivals.ended,
      );
      late[form].push(...latenesses(arrivals.times));
    }
  }
  service.close();
  for (const [form, values] of Object.entries(late)) {
    const share = values.filter((ms) => ms <= 5).length / values.length;
    print(
      `frames on time, ${form}`,
      `${(100 * share).toFixed(2)} % within 5 ms of their deadline, p50 ${at(values, 0.5)} ms, p99 ${at(values, 0.99)} ms, max ${at(values, 1)} ms (${values.length} frames)`,
    );
  }
}

/** A service that takes any token, and says every message back. */
async function startService() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  let next;
  server.on('connection', (stream) => {
    const { times, end } = next;
    stream.once('message', () => stream.send('{"type":"service_voice_connected"}'));
    stream.on('message', (data, isBinary) => {
      if (!isBinary) return;
      times.push(performance.now());
      stream.send(data);
    });
    stream.on('close', end);
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    arrivalsOfNext() {
      const times = [];
      const ended = new Promise((resolve) => {
        next = { times, end: resolve };
      });
      return { times, ended };
    },
    close: () => server.close(),
  };
}

/** The first second is that of the start: connecting, compiling. The frame that came soonest sets the deadlines. */
function latenesses(times) {
  const offsets = times.map((time, index) => time - index * frameMs).slice(1000 / frameMs);
  const soonest = Math.min(...offsets);
  return offsets.map((offset) => offset - soonest);
}

/** What the emulator takes of a core, and of memory, with 20 sessions and 1,000 events a second. */
async function load() {
  for (const [form, flags] of [
    ['tui', ''],
    ['quiet', '--output plain --quiet'],
  ]) {
    const folder = mkdtempSync(join(tmpdir(), 'voicectl-bench-'));
    const ready = join(folder, 'ready.json');
    await inTerminal(
      `${process.execPath} ${program} serve --port 0 --ready-file ${ready} ${flags}`,
      async (pid) => {
        const { baseUrl, wsUrl } = await until(() => JSON.parse(readFileSync(ready, 'utf8')));
        const streams = await Promise.all(
          Array.from({ length: 20 }, (_, index) => talk(baseUrl, wsUrl, index)),
        );
        await pause(5_000);
        const [cpu, before, since] = [cpuMs(pid), rssMb(pid), performance.now()];
        const halfway = pause(15_000).then(() => rssMb(pid));
        await pause(30_000);
        const share = (cpuMs(pid) - cpu) / (performance.now() - since);
        print(
          `serve with 20 sessions and 1,000 events a second, ${form}`,
          `${(100 * share).toFixed(1)} % of a core, ${before} MB, after 15 s ${await halfway} MB, after 30 s ${rssMb(pid)} MB`,
        );
        for (const stop of streams) stop();
      },
    );
    rmSync(folder, { recursive: true });
  }
}

/** A session that sends audio in real time, and 25 texts a second that are two events each. */
async function talk(baseUrl, wsUrl, index) {
  const response = await fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey: 'bench', deviceId: `bench-${index % 4}` }),
  });
  const { token: jwt } = await response.json();
  const stream = new WebSocket(`${wsUrl}/voice-stream`);
  await new Promise((resolve, reject) => stream.once('open', resolve).once('error', reject));
  stream.send(jwt);
  await new Promise((resolve) => stream.once('message', resolve));
  const frame = Buffer.alloc(640);
  for (let sample = 0; sample < 320; sample += 1)
    frame.writeInt16LE(Math.round(8_000 * Math.sin(sample / 5)), sample * 2);
  const [audio, text] = [
    setInterval(() => stream.send(frame), frameMs),
    setInterval(() => stream.send('hello'), 40),
  ];
  return () => {
    clearInterval(audio);
    clearInterval(text);
    stream.terminate();
  };
}

/** From the start of the process to the first frame on the terminal, beside a Node that does nothing. */
async function firstFrame() {
  const turns = 15;
  const [frames, floors] = [[], []];
  const words = `${program} stream --file ${join(root, 'fixtures', 'hello.wav')} --local`;
  for (let turn = 0; turn < turns; turn += 1) {
    floors.push(await timeInTerminal(`${process.execPath} -e 0`));
    frames.push(await timeInTerminal(`${process.execPath} ${words}`, '\u001b[?1049h'));
  }
  const [frame, floor] = [at(frames, 0.5), at(floors, 0.5)];
  print(
    'first frame',
    `${frame} ms, node -e 0 ${floor} ms: ${(frame / floor).toFixed(2)} × (medians of ${turns})`,
  );
}

/** Milliseconds until the command, in a terminal of its own, has written this, or has ended. */
function timeInTerminal(command, text) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn('script', ['-qec', `stty cols 80 rows 24; exec ${command}`, '/dev/null'], {
      env: { ...process.env, TERM: 'xterm-256color', CI: '' },
    });
    let written = '';
    child.stdout.on('data', (chunk) => {
      written += chunk;
      if (text === undefined || !written.includes(text)) return;
      resolve(performance.now() - startedAt);
      child.kill('SIGKILL');
    });
    child.on('close', () => resolve(performance.now() - startedAt));
  });
}

/** Runs a command in a terminal of 160 × 50 until `during`, which gets its pid, is done. */
async function inTerminal(command, during) {
  const tmux = (...args) =>
    execFileSync('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C.UTF-8', CI: '' },
    });
  const pane = tmux(
    'new-session',
    '-d',
    '-x',
    '160',
    '-y',
    '50',
    '-P',
    '-F',
    '#{pane_pid}',
    `exec env ${command}`,
  );
  try {
    await during(Number(pane));
  } finally {
    try {
      tmux('kill-server');
    } catch {
      // The command has ended, and its terminal with it.
    }
    await pause(500);
  }
}

/** A token that nobody checks. */
function token() {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'none' })}.${part({ sub: 'bench', iat, exp: iat + 60 })}.${part('signature')}`;
}

/** Processor time that a process has used, in user and system mode: ticks of 10 ms. */
function cpuMs(pid) {
  const [, user, system] =
    /\) \S(?: \S+){10} (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return (Number(user) + Number(system)) * 10;
}

function rssMb(pid) {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

async function until(read) {
  for (;;) {
    try {
      return read();
    } catch {
      await pause(20);
    }
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function at(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.ceil((sorted.length - 1) * share)] ?? Number.NaN) * 10) / 10;
}

function print(name, value) {
  process.stdout.write(`${name}: ${value}\n`);
}

import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ahead } from '../../test/helpers/ahead.js';
import { makeMurmur } from '../../test/helpers/murmur.js';
import { stallProcess, startSoundServer } from '../../test/helpers/sound-server.js';
import { openEar } from './ear.js';
import { startService, toSamples } from './service.js';
import { now } from './time.js';

const program = fileURLToPath(new URL('../../bin/voicectl.js', import.meta.url));
const pieceFrames = 10;
/** What is heard later than this is not found. */
export const withinMs = 2_500;

/** @typedef {Awaited<ReturnType<typeof startService>>} Service */
/** @typedef {Awaited<ReturnType<typeof openEar>>} Ear */

/**
 * A session by way of a backend, with a service and ears on both sides.
 *
 * @param {string} backend
 * @param {{ flags?: string[], env?: NodeJS.ProcessEnv }} [options]
 */
export async function openScene(backend, { flags = [], env = {} } = {}) {
  const server = await startSoundServer();
  const service = await startService();
  const ear = await openEar('spk.monitor', server.env);
  const mouth = await openEar('micsrc.monitor', server.env);
  const [command = '', ...ownArgs] = [...ahead, process.execPath];
  const child = spawn(
    command,
    [
      ...[
        ...ownArgs,
        program,
        'stream',
        '--mic',
        '--play',
        '--base-url',
        service.url,
        '--audio-backend',
        backend,
      ],
      ...['--json', '-v', '--wait', '1h', ...flags],
    ],
    { env: { ...server.env, ...env, VOICECTL_API_KEY: 'bench' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  child.stdout.on('data', (text) => {
    said = (said + text).slice(-2_000_000);
  });
  let problem = '';
  child.stderr.on('data', (text) => {
    problem += text;
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const giveUpAt = now() + 15_000;
  while (!service.isLive && child.exitCode === null && now() < giveUpAt) await sleep(20);
  return {
    server,
    service,
    ear,
    mouth,
    pid: /** @type {number} */ (child.pid),
    events: () =>
      said
        .split('\n')
        .slice(1, -1)
        .map((line) => JSON.parse(line)),
    get isOver() {
      return child.exitCode !== null;
    },
    problem: () => problem,
    async close() {
      child.kill('SIGINT');
      const limit = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(limit);
      ear.close();
      mouth.close();
      service.close();
      server.close();
      return child.exitCode;
    },
  };
}

/** Delays from wire to ear, one every 250 ms. @param {Service} service @param {Ear} ear @param {number} count */
export async function collectDelays(service, ear, count) {
  const delays = [];
  for (let i = 0; i < count; i += 1) {
    await sleep(250);
    const piece = service.piece(pieceFrames, withinMs);
    if (piece === undefined) continue;
    const { delayMs, likeness } = ear.find(piece.samples, piece.leftAt, withinMs - 200);
    if (likeness > 0.9) delays.push(delayMs);
  }
  return delays;
}

/** @param {string} backend */
export async function measureDelay(backend) {
  const scene = await openScene(backend);
  try {
    // What is measured left `withinMs` ago.
    await sleep(withinMs + 1_500);
    return describe(await collectDelays(scene.service, scene.ear, 12), scene.problem());
  } finally {
    await scene.close();
  }
}

/** Speaks into the microphone, and finds it at the ear. @param {NodeJS.ProcessEnv} env @param {{ mouth: Ear, ear: Ear }} ears */
export async function collectEchoes(env, { mouth, ear }) {
  const voice = makeMurmur(6, 99);
  const saidFrom = now();
  await speak(env, voice);
  await sleep(withinMs);
  const delays = [];
  for (let at = 1; at <= 5; at += 0.5) {
    const samples = toSamples(voice.subarray(at * 32_000, at * 32_000 + 6_400));
    const said = mouth.find(samples, saidFrom + at * 1_000 - 200, withinMs);
    if (said.likeness < 0.9) continue;
    const saidAt = saidFrom + at * 1_000 - 200 + said.delayMs;
    const heard = ear.find(samples, saidAt, withinMs);
    if (heard.likeness > 0.9) delays.push(heard.delayMs);
  }
  return delays;
}

/** @param {string} backend */
export async function measureEcho(backend) {
  const scene = await openScene(backend);
  try {
    scene.service.become('echo');
    await sleep(1_500);
    return describe(await collectEchoes(scene.server.env, scene), scene.problem());
  } finally {
    await scene.close();
  }
}

/** Somebody speaks, or the service says that it was interrupted, while it goes on speaking. @param {string} backend */
export async function measureBargeIn(backend) {
  /** @type {number[]} */
  const voice = [];
  /** @type {number[]} */
  const held = [];
  /** @type {number[]} */
  const interrupted = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const scene = await openScene(backend, { flags: ['--barge-in'] });
    try {
      await sleep(2_500);
      const from = now();
      await speak(scene.server.env, makeMurmur(1.5, 31 + turn));
      await sleep(600);
      const onset = scene.mouth.levels(from, now()).find(({ isLoud }) => isLoud)?.at;
      if (onset !== undefined) {
        const after = silenceAfter(scene.ear, onset, onset + 1_500);
        if (after !== undefined) voice.push(after);
        const steps = scene.ear.levels(onset, onset + 1_500);
        held.push(steps.filter(({ isLoud }) => !isLoud).length * 5);
      }
    } finally {
      await scene.close();
    }
    const other = await openScene(backend);
    try {
      await sleep(2_500);
      const at = now();
      other.service.send({ type: 'interrupted' });
      other.service.become('silent');
      await sleep(1_500);
      const after = silenceAfter(other.ear, at, at + 1_500);
      if (after !== undefined) interrupted.push(after);
    } finally {
      await other.close();
    }
  }
  return {
    'barge-in → silence': describe(voice),
    'silent of 1500': describe(held),
    'interrupted → silence': describe(interrupted),
  };
}

/** How long after a moment the ear hears nothing, for a tenth of a second. @param {Ear} ear @param {number} at @param {number} until */
function silenceAfter(ear, at, until) {
  const steps = ear.levels(at, until);
  const first = steps.findIndex((_, i) => {
    const next = steps.slice(i, i + 20);
    return next.length === 20 && next.every(({ isLoud }) => !isLoud);
  });
  const found = steps[first];
  return found === undefined ? undefined : found.at - at;
}

/** The delay before and after the server, the player and voicectl itself were held up. @param {string} backend */
export async function measureStalls(backend) {
  /** @type {Record<string, string>} */
  const row = {};
  for (const who of /** @type {const} */ (['server', 'player', 'program'])) {
    const scene = await openScene(backend);
    try {
      await sleep(withinMs + 1_500);
      const before = await collectDelays(scene.service, scene.ear, 6);
      const { server, pid } = scene;
      const stopped = { server: server.pid, player: playerOf(pid), program: pid }[who];
      if (stopped === undefined) continue;
      await stallProcess(stopped, 500);
      await sleep(3_000 + withinMs);
      const after = await collectDelays(scene.service, scene.ear, 6);
      row[`${who} held up 500`] = `${describe(before)} → ${describe(after, scene.problem())}`;
    } finally {
      await scene.close();
    }
  }
  return row;
}

/** The process that plays. @param {number} parent */
function playerOf(parent) {
  const found = spawnSync('pgrep', ['-P', String(parent), '-f', 'pacat|aplay|ffplay|play |playback']);
  const [first] = found.stdout.toString().trim().split('\n').filter(Boolean);
  return first === undefined ? undefined : Number(first);
}

/** Speaks into the microphone in real time. @param {NodeJS.ProcessEnv} env @param {Buffer} pcm */
export function speak(env, pcm) {
  const format = ['--raw', '--format=s16le', '--rate=16000', '--channels=1'];
  return new Promise((resolve) => {
    const child = spawn('pacat', ['--playback', '--device=micsrc', '--latency-msec=100', ...format], {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.once('exit', resolve);
    child.stdin.end(pcm);
  });
}

/** The least, the median and the greatest. @param {number[]} values @param {string} [problem] */
export function describe(values, problem = '') {
  if (values.length === 0) return problem === '' ? 'nothing heard' : `nothing heard: ${problem.trim()}`;
  const sorted = [...values].sort((one, other) => one - other).map(Math.round);
  return `${sorted[sorted.length >> 1]} (${sorted[0]}–${sorted.at(-1)})`;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { systemClock, waitUntil } from '../../src/kernel/clock.ts';
import type { EmulatorState } from '../../src/protocol/control.ts';
import { connectedKind } from '../../src/protocol/messages.ts';
import { streamPath, tokenPath } from '../../src/protocol/paths.ts';
import { createRandom } from '../../src/service/random.ts';
import { freePort } from '../helpers/free-port.js';
import { type Redis, startRedis } from '../helpers/redis.ts';
import { program, type Running, watchProcess } from '../helpers/voicectl.ts';

export interface ClusterChaosReport {
  /** What was granted too often; nothing may be. */
  wrong: string[];
  /** What happened, by name, so that a run that did nothing is noticed. */
  counts: Record<string, number>;
  /** At the end: connections that the service still counts, and keys of Redis without an expiry. */
  connectionsLeft: number;
  keysWithoutExpiry: string[];
}

const emulators = 3;
const clients = 12;
const devices = ['d1', 'd2', 'd3'];
const maxConnections = 10;
const controlSecret = 'chaos-secret';
/** Longest stop of an emulator or of Redis: shorter than a lease, so that nobody may take a slot in the meantime. */
const longestStopMs = 3_000;
const leaseMs = 15_000;
/** A shorter run kills no emulator: slots become free only when their leases expire. */
const killsFromMs = 60_000;

const pause = (ms: number) => waitUntil(systemClock, systemClock.now() + ms);

/**
 * Three emulators with one Redis: devices request tokens, open streams and use tokens several times, while emulators are
 * killed, started and stopped, and Redis is stopped, killed and restarted with its file.
 */
export async function runClusterChaos({
  durationMs,
  seed,
}: {
  durationMs: number;
  seed: number;
}): Promise<ClusterChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-cluster-'));
  const kept = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
  const redis = await startRedis(kept);
  const ledger = createLedger();
  const members = await Promise.all(Array.from({ length: emulators }, () => startMember(redis)));
  const until = systemClock.now() + durationMs;
  const isOver = () => systemClock.now() >= until;
  const random = createRandom(seed);
  const repeat = async (act: (chance: () => number) => Promise<void>) => {
    const chance = random.sequence();
    while (!isOver()) await act(chance);
  };
  const pick = (chance: () => number) => members[Math.floor(chance() * members.length)] ?? members[0];
  try {
    await Promise.all([
      ...Array.from({ length: clients }, () =>
        repeat((chance) => converse(ledger, () => pick(chance), chance)),
      ),
      repeat((chance) => troubleEmulators(ledger, pick(chance), chance, durationMs >= killsFromMs)),
      repeat((chance) => troubleRedis(ledger, redis, chance)),
      repeat((chance) => moveClock(ledger, pick(chance))),
    ]);
    await Promise.all(members.map((member) => member?.revive()));
    const connectionsLeft = await settle(members[0]);
    return { wrong: ledger.wrong, counts: ledger.counts, connectionsLeft, keysWithoutExpiry: lasting(redis) };
  } finally {
    await Promise.all(members.map((member) => member?.stop()));
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Member {
  readonly port: number;
  signal(name: NodeJS.Signals): void;
  /** Ends at once; starts again with `revive`. */
  kill(): Promise<void>;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

async function startMember({ url }: Redis): Promise<Member> {
  const port = await freePort();
  const flags = ['--port', String(port), '--json', '--reply', 'silence'];
  let running: Running | undefined;
  const revive = async () => {
    while (running === undefined) {
      const started = watchProcess(process.execPath, [program, 'serve', ...flags], {
        env: { ...process.env, VOICECTL_SHARED: url, VOICECTL_CONTROL_SECRET: controlSecret },
      });
      // Redis may be unavailable at the moment.
      const isUp = await started.line(/"type":"listening"/).then(
        () => true,
        () => false,
      );
      if (isUp) running = started;
      else await pause(200);
    }
  };
  const end = async (name: NodeJS.Signals) => {
    const ended = running;
    running = undefined;
    ended?.signal('SIGCONT');
    ended?.signal(name);
    await ended?.ended;
  };
  await revive();
  return {
    port,
    revive,
    signal: (name) => running?.signal(name),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

/** What was granted, as seen by the clients. */
function createLedger() {
  const grants = new Set<string>();
  const open = new Map<string, number>();
  const confirmed = new Map<string, number>();
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  return {
    counts,
    wrong,
    count(name: string) {
      counts[name] = (counts[name] ?? 0) + 1;
    },
    /** Each request in a window leaves a different number of requests. */
    token(device: string, reset: string | null, remaining: string | null) {
      const grant = `${device}, reset ${reset}, remaining ${remaining}`;
      if (grants.has(grant)) wrong.push(`granted twice: ${grant}`);
      grants.add(grant);
    },
    opened(device: string, token: string) {
      const now = (open.get(device) ?? 0) + 1;
      open.set(device, now);
      if (now > maxConnections) wrong.push(`${device} has ${now} connections`);
      const uses = (confirmed.get(token) ?? 0) + 1;
      confirmed.set(token, uses);
      if (uses > 1) wrong.push(`a token of ${device} was accepted ${uses} times`);
    },
    ended(device: string) {
      open.set(device, (open.get(device) ?? 0) - 1);
    },
  };
}
type Ledger = ReturnType<typeof createLedger>;

/** A token, presented to several emulators at once, and perhaps again. */
async function converse(ledger: Ledger, pick: () => Member | undefined, chance: () => number): Promise<void> {
  const device = devices[Math.floor(chance() * devices.length)] ?? '';
  const token = await requestToken(ledger, pick(), device);
  if (token === undefined) {
    await pause(50 + 100 * chance());
    return;
  }
  const rivals = chance() < 0.3 ? 4 : 1;
  await Promise.all(Array.from({ length: rivals }, () => stream(ledger, pick(), { device, token }, chance)));
  if (chance() < 0.2) await stream(ledger, pick(), { device, token }, chance);
}

async function requestToken(ledger: Ledger, member: Member | undefined, device: string) {
  try {
    const response = await fetch(`http://127.0.0.1:${member?.port}${tokenPath()}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'key', deviceId: device }),
      signal: AbortSignal.timeout(2 * longestStopMs),
    });
    const { token } = (await response.json()) as { token?: string };
    ledger.count(`token ${response.status}`);
    if (response.status !== 200) return undefined;
    const { headers } = response;
    ledger.token(device, headers.get('X-RateLimit-Reset'), headers.get('X-RateLimit-Remaining'));
    return token;
  } catch {
    ledger.count('token without answer');
    return undefined;
  }
}

async function stream(
  ledger: Ledger,
  member: Member | undefined,
  { device, token }: { device: string; token: string },
  chance: () => number,
): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${member?.port}${streamPath}`, {
    perMessageDeflate: false,
    handshakeTimeout: 2 * longestStopMs,
  });
  let isCounted = false;
  const leave = () => {
    if (isCounted) ledger.ended(device);
    isCounted = false;
  };
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => {});
    socket.on('close', (code) => {
      leave();
      ledger.count(`stream closed with ${code}`);
      resolve();
    });
  });
  socket.on('open', () => socket.send(token));
  const confirmed = new Promise<boolean>((resolve) => {
    socket.on('message', (data, isBinary) => {
      if (isBinary || !data.toString().includes(connectedKind)) return;
      isCounted = true;
      ledger.count('stream confirmed');
      ledger.opened(device, token);
      resolve(true);
    });
    void closed.then(() => resolve(false));
  });
  if (await confirmed) await Promise.race([closed, pause(200 + 3_000 * chance())]);
  // Counted as gone before the service knows: the slot may be taken from then on.
  leave();
  if (chance() < 0.5) socket.terminate();
  else socket.close();
  await Promise.race([closed, pause(1_000)]);
  socket.terminate();
}

async function troubleEmulators(
  ledger: Ledger,
  member: Member | undefined,
  chance: () => number,
  mayKill: boolean,
): Promise<void> {
  await pause(500 + 2_000 * chance());
  if (mayKill && chance() < 0.4) {
    ledger.count('emulator killed');
    await member?.kill();
    await pause(1_000 * chance());
    await member?.revive();
    return;
  }
  ledger.count('emulator stopped');
  member?.signal('SIGSTOP');
  await pause(longestStopMs * chance());
  member?.signal('SIGCONT');
}

async function troubleRedis(ledger: Ledger, redis: Redis, chance: () => number): Promise<void> {
  await pause(1_000 + 4_000 * chance());
  if (chance() < 0.4) {
    ledger.count('Redis killed');
    await redis.restart();
    return;
  }
  ledger.count('Redis stopped');
  redis.signal('SIGSTOP');
  await pause(longestStopMs * chance());
  redis.signal('SIGCONT');
}

/** Resets the windows, so that there is something to grant. */
async function moveClock(ledger: Ledger, member: Member | undefined): Promise<void> {
  await pause(2_000);
  const moved = await control(member, '/clock', { advanceMs: 61_000 });
  if (moved?.ok === true) ledger.count('clock moved');
}

function control(member: Member | undefined, path: string, body?: object): Promise<Response | undefined> {
  return fetch(`http://127.0.0.1:${member?.port}/__voicectl${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { Authorization: `Bearer ${controlSecret}` },
    signal: AbortSignal.timeout(5_000),
  }).catch(() => undefined);
}

/** Waits until the service counts no more connections, or the leases of killed emulators must have expired. */
async function settle(member: Member | undefined): Promise<number> {
  const deadline = systemClock.now() + 2 * leaseMs;
  for (;;) {
    const answer = await control(member, '/state');
    const state = answer?.ok === true ? ((await answer.json()) as EmulatorState) : undefined;
    const left = state?.devices.reduce((sum, { connections }) => sum + connections, 0);
    if (left === 0 || systemClock.now() > deadline) return left ?? Number.NaN;
    await pause(200);
  }
}

function lasting(redis: Redis): string[] {
  const keys = redis
    .cli('KEYS', '*')
    .split('\n')
    .filter((key) => key !== '');
  return keys.filter((key) => redis.cli('PTTL', key).trim() === '-1');
}

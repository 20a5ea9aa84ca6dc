import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { systemClock, waitUntil } from '../../src/kernel/clock.ts';
import type { EmulatorState } from '../../src/protocol/control.ts';
import { faultCatalogue, faultNames } from '../../src/protocol/faults.ts';
import { streamPath, tokenPath } from '../../src/protocol/paths.ts';
import { createRandom } from '../../src/service/random.ts';

/** What an emulator process has in use, after a garbage collection. */
export interface Usage {
  heapBytes: number;
  descriptors: number;
  state: EmulatorState;
}

export interface ChaosReport {
  before: Usage;
  after: Usage;
  /** What happened, by name, so that a run that did nothing is noticed. */
  counts: Record<string, number>;
  /** How the emulator process ended, if it did. */
  died: string | undefined;
}

const connections = 20;
const keptAliveMs = 10_000;
const devices = ['d1', 'd2', 'd3'];
const program = fileURLToPath(new URL('emulator-process.js', import.meta.url));

/**
 * Everything at once: connections that speak, stall, flood, send nonsense and vanish; faults that come and go; and
 * the emulator itself, stopped and continued. Then everything becomes quiet, and the test looks at what is left.
 */
export async function runChaos({
  durationMs,
  seed,
}: {
  durationMs: number;
  seed: number;
}): Promise<ChaosReport> {
  const child = fork(program, ['parrot'], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  let died: string | undefined;
  child.once('exit', (code, signal) => {
    died = `${code ?? signal}: ${errors}`;
  });
  const [{ baseUrl, wsUrl }] = (await once(child, 'message')) as [{ baseUrl: string; wsUrl: string }];
  const counts: Record<string, number> = {};
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const control = createControl(baseUrl);

  // One pass through everything, so that what is allocated on first use is not mistaken for a leak.
  const until = (ms: number) => ({ endsAt: systemClock.now() + ms, died: () => died !== undefined });
  const mischief = { baseUrl, wsUrl, count, seed };
  await raise(mischief, until(1_000), child, control);
  await control.settle();
  const before = await measure(child);

  await raise({ ...mischief, seed: seed + 1 }, until(durationMs), child, control);
  await control.settle();
  let after = await measure(child);
  // Connections of finished requests are kept open for a while, in case another one comes; and one that its client gave up
  // may only be accepted now.
  const deadline = systemClock.now() + keptAliveMs;
  const isHeld = () => after.descriptors > before.descriptors || after.state.streams.length > 0;
  while (isHeld() && systemClock.now() < deadline) {
    await pause(200);
    after = await measure(child);
  }
  const exited = died;
  child.removeAllListeners('exit');
  child.kill();
  return { before, after, counts, died: exited };
}

async function measure(child: ChildProcess): Promise<Usage> {
  child.send('measure');
  return ((await once(child, 'message')) as [Usage])[0];
}

interface Mischief {
  baseUrl: string;
  wsUrl: string;
  count: (name: string) => void;
  seed: number;
}

interface Until {
  endsAt: number;
  died: () => boolean;
}

type Control = ReturnType<typeof createControl>;

async function raise(mischief: Mischief, until: Until, child: ChildProcess, control: Control): Promise<void> {
  const random = createRandom(mischief.seed);
  const isOver = () => until.died() || systemClock.now() >= until.endsAt;
  const repeat = async (act: (chance: () => number) => Promise<void>) => {
    const chance = random.sequence();
    while (!isOver()) await act(chance);
  };
  await Promise.all([
    ...Array.from({ length: connections }, (_, at) =>
      repeat((chance) => converse(mischief, devices[at % devices.length] as string, chance)),
    ),
    repeat((chance) => troubleWithFaults(mischief, control, chance)),
    repeat((chance) => stopAndContinue(mischief, child, chance)),
  ]);
}

const pause = (ms: number) => waitUntil(systemClock, systemClock.now() + ms);

/** One connection, from the token to its end, whatever it is. */
async function converse(
  { baseUrl, wsUrl, count }: Mischief,
  device: string,
  chance: () => number,
): Promise<void> {
  if (chance() < 0.1) {
    await sendNonsense(baseUrl, count, chance);
    return;
  }
  const token = await requestToken(baseUrl, device);
  count(token === undefined ? 'no token' : 'token');
  const socket = new WebSocket(wsUrl + streamPath, { perMessageDeflate: false, handshakeTimeout: 1_000 });
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
  const opened = await new Promise<boolean>((resolve) => {
    socket.on('open', () => resolve(true));
    socket.on('close', () => resolve(false));
  });
  if (!opened) {
    count('not opened');
    return;
  }
  socket.send(token ?? 'no token at all');
  await act(socket, count, chance);
  if (chance() < 0.5) socket.terminate();
  else socket.close();
  // A peer that a fault has made deaf does not answer the close frame.
  await Promise.race([ended, pause(500)]);
  socket.terminate();
  await ended;
}

async function requestToken(baseUrl: string, device: string): Promise<string | undefined> {
  const body = JSON.stringify({ apiKey: 'key', deviceId: device });
  const signal = AbortSignal.timeout(1_000);
  try {
    const response = await fetch(baseUrl + tokenPath(), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      signal,
    });
    return ((await response.json()) as { token?: string }).token;
  } catch {
    return undefined;
  }
}

async function act(socket: WebSocket, count: (name: string) => void, chance: () => number): Promise<void> {
  const frames = Math.floor(chance() * 50);
  const kind = Math.floor(chance() * 6);
  const send = (data: string | Buffer) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data);
  };
  switch (kind) {
    case 0:
      count('speaks');
      for (let frame = 0; frame < frames; frame += 1) {
        send(noise(640, chance));
        await pause(20);
      }
      break;
    case 1:
      count('floods');
      for (let frame = 0; frame < 20 * frames; frame += 1) send(Buffer.alloc(640, frame));
      break;
    case 2:
      count('does not read');
      socket.pause();
      for (let frame = 0; frame < frames; frame += 1) send(noise(6_400, chance));
      await pause(300);
      break;
    case 3:
      count('odd sizes');
      for (let frame = 0; frame < frames; frame += 1) send(Buffer.alloc(Math.floor(chance() * 1_000)));
      break;
    case 4:
      count('texts');
      for (let frame = 0; frame < frames; frame += 1) send('{"hello":'.repeat(frame));
      break;
    default:
      count('too big');
      send(Buffer.alloc(2 * 1024 * 1024));
      await pause(50);
  }
}

function noise(bytes: number, chance: () => number): Buffer {
  return Buffer.alloc(bytes, Buffer.from([Math.floor(chance() * 256), Math.floor(chance() * 256), 3, 90]));
}

/** Sends bytes that are not HTTP, or half a request, and disconnects. */
async function sendNonsense(
  baseUrl: string,
  count: (name: string) => void,
  chance: () => number,
): Promise<void> {
  count('nonsense');
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
  socket.on('error', () => {});
  const texts = [
    '\0\0\0\0',
    'POST /api',
    `GET ${streamPath} HTTP/1.1\r\nUpgrade: websocket\r\n`,
    'x'.repeat(20_000),
  ];
  socket.write(texts[Math.floor(chance() * texts.length)] ?? '');
  await pause(20);
  socket.resetAndDestroy();
}

async function troubleWithFaults({ count }: Mischief, control: Control, chance: () => number): Promise<void> {
  const name = faultNames[Math.floor(chance() * faultNames.length)] ?? 'mute';
  const delays = 'delay' in faultCatalogue[name].parameters ? { delay: 200 } : {};
  count('fault');
  await control.post('/faults', { name, times: 3, ...delays });
  await pause(30);
  if (chance() < 0.05) await control.post('/faults/clear', {});
}

async function stopAndContinue(
  { count }: Mischief,
  child: ChildProcess,
  chance: () => number,
): Promise<void> {
  await pause(500 + 1_000 * chance());
  count('stopped and continued');
  child.kill('SIGSTOP');
  await pause(300 * chance());
  child.kill('SIGCONT');
}

function createControl(baseUrl: string) {
  const post = (path: string, body: object) =>
    fetch(`${baseUrl}/__voicectl${path}`, { method: 'POST', body: JSON.stringify(body) }).catch(
      () => undefined,
    );
  return {
    post,
    /** Ends everything, moves past every deadline, and waits until no stream is left. */
    async settle() {
      await post('/faults/clear', {});
      await post('/clock', { advanceMs: 120_000 });
      await post('/reset', {});
      const deadline = systemClock.now() + 60_000;
      for (;;) {
        const state = (await (await fetch(`${baseUrl}/__voicectl/state`)).json()) as EmulatorState;
        if (state.streams.length === 0) return;
        if (systemClock.now() > deadline) throw new Error(`streams left: ${JSON.stringify(state.streams)}`);
        await pause(100);
      }
    },
  };
}

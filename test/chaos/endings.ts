import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { WebSocket } from 'ws';
import { tokenPath } from '../../src/protocol/paths.ts';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { startEmulatorFor } from '../helpers/emulators.ts';
import { findMarked } from '../helpers/marked-processes.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { openStream } from '../helpers/stream-client.ts';
import { makeFullPipe, makePipe } from '../helpers/unread-pipe.ts';
import { fixture, type Running, type Sandbox } from '../helpers/voicectl.ts';

/** What asks a command to end, the exit code of the command, and what it prints about it. */
export const requests = [
  ['SIGINT', 130, 'Interrupted'],
  ['SIGTERM', 143, 'Terminated'],
  ['SIGHUP', 129, 'The terminal hung up'],
  ['SIGQUIT', 131, 'Quit'],
  ['--timeout', 7, 'after 5 s'],
] as const;
export type Request = (typeof requests)[number][0];

export interface Scene extends Pick<TestContext, 'expect' | 'onTestFinished'> {
  sandbox: Sandbox;
  /** In the environment of everything that is started. */
  env: Record<string, string>;
  /** Flags of the time limit, if that is what ends the command. */
  limit: string[];
  there(name: string): Promise<unknown>;
  /** Whether the command had reached the planned moment: a time limit may come before it. */
  isThere?: boolean;
}

export interface Ending {
  name: string;
  /** The command, as named in the table, and the point in its work at which it is ended. */
  of: string;
  moment: 'before' | 'during' | 'writes';
  /** Starts the command, and resolves when it has reached the point at which it is ended. */
  start(scene: Scene): Promise<Running>;
  /** What must exist afterwards. */
  found?: (ended: { stdout: string; junit: string; html: string }, says: string, scene: Scene) => void;
  /**
   * What ends it in the suite: a sample that includes each command that runs for a while, each moment and each request;
   * of the commands that start others, some are asked to end and some are killed. `npm run endings` ends each row in every way.
   */
  by: readonly Request[];
  /** Whether it has no time limit. */
  isUnlimited?: true;
  /** Its child processes must be gone even after SIGKILL: checked in the suite, or only with the whole table. */
  killed?: 'sample' | 'whole';
  code?: (usual: number) => number;
}

/** Two processes, of which one has left the process group and both ignore signals. */
const deaf = `trap '' INT TERM HUP QUIT; setsid sleep 100 & sleep 100`;
const junit = ['--junit', 'j.xml'];
const device = join(import.meta.dirname, '..', '..', 'examples', 'devices', 'device.js');

/** A service that takes connections and never answers. */
async function silentService({
  onTestFinished,
}: Scene): Promise<{ baseUrl: string; asked: Promise<unknown> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  const asked = once(server, 'connection');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A service that is slow to answer each request, and reports the fourth token request. */
async function slowService({ onTestFinished }: Scene) {
  let tokens = 0;
  let tell = () => {};
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const service = await startMiniService({
    status: () => {
      tokens += 1;
      if (tokens === 4) tell();
      return 200;
    },
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { baseUrl: service.baseUrl, asked };
}

const startAt =
  (args: (baseUrl: string) => string[], service: typeof silentService): Ending['start'] =>
  async (scene) => {
    const { baseUrl, asked } = await service(scene);
    const running = scene.sandbox.start([...args(baseUrl), ...scene.limit], { env: scene.env });
    await Promise.race([asked.then(() => Object.assign(scene, { isThere: true })), running.ended]);
    return running;
  };

/** Resolves when a process is waiting and has not run for a while; at once if it has ended. */
async function whenStill({ child: { pid } }: Running, { expect }: Scene): Promise<void> {
  let [before, times] = ['', 0];
  const isStill = async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
    if (stat === undefined) return true;
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Processor time, in user and in system mode.
    const now = rest.slice(10, 12).join(' ');
    times = state === 'S' && now === before ? times + 1 : 0;
    before = now;
    return times === 3;
  };
  await expect.poll(isStill, { interval: 200 }).toBe(true);
}

/** Starts a command whose lines nobody reads. */
function startUnread({ sandbox, env, limit }: Scene, args: readonly string[]): Running {
  makeFullPipe(sandbox, 'full');
  const words = [...args, ...limit].map((word) => `'${word}'`).join(' ');
  return sandbox.startShell(`exec voicectl ${words} >full`, { env });
}

/** Starts a command whose lines nobody reads, and waits until it is held up by them. */
const writing =
  (args: (scene: Scene) => readonly string[] | Promise<readonly string[]>): Ending['start'] =>
  async (scene) => {
    const running = startUnread(scene, await args(scene));
    await whenStill(running, scene);
    return running;
  };

/** Starts a command, and waits until it has printed this. */
const saying =
  (
    matches: RegExp,
    args: (scene: Scene) => readonly string[] | Promise<readonly string[]>,
  ): Ending['start'] =>
  async (scene) => {
    const running = scene.sandbox.start([...(await args(scene)), ...scene.limit], { env: scene.env });
    await Promise.race([running.line(matches), running.ended]);
    return running;
  };

/** A service that begins an answer and never ends it. */
async function endlessService({
  onTestFinished,
}: Scene): Promise<{ baseUrl: string; asked: Promise<unknown> }> {
  const server = createHttpServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"token":"');
  });
  const asked = once(server, 'request');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** The folder of a recording. */
async function recording({ sandbox }: Scene): Promise<string> {
  const args = ['stream', '--file', fixture('hello.wav'), '--pace', 'max', '--local', '--record', 'session'];
  await sandbox.run(args);
  return 'session';
}

/** Programs of the sound system that hang, and ignore signals. */
function hangingSound({ sandbox }: Scene): Record<string, string> {
  for (const name of [
    'pactl',
    'parec',
    'pacat',
    'pw-cat',
    'pw-cli',
    'arecord',
    'aplay',
    'ffmpeg',
    'sox',
    'rec',
    'play',
  ])
    sandbox.write(`bin/${name}`, `#!/bin/sh\n: >probing\n${deaf}\n`, 0o755);
  return { PULSE_SERVER: '127.0.0.1:1' };
}

/** A command that was asked to end has done its work, unless a terminal hung up. */
const serves = (usual: number) => (usual === 129 ? 129 : 0);
/** The command has ended as asked, but not everything was written. */
const unwritten = (usual: number) => (usual === 129 ? 129 : 8);
const local = ['--local', '--reply', 'echo'];
const speech = ['stream', '--file', fixture('hello.wav'), '--loop'];
const proxyTo = async (scene: Scene) => {
  const { baseUrl } = await startEmulatorFor(scene, {});
  return ['proxy', '--target', baseUrl, '--port', '0', '--json'];
};
const emulatorOf = (scene: Scene) => startEmulatorFor(scene, {});

const check = (baseUrl: string) => [
  ...['check', '--base-url', baseUrl, '--one-device', '--html', 'page.html', ...junit],
];
const learn = (baseUrl: string) => ['learn', '--base-url', baseUrl, '--one-device'];
const load = (baseUrl: string) => ['load', '--sessions', '5', '--base-url', baseUrl, ...junit];

export const endings: readonly Ending[] = [
  {
    name: 'check before its first answer',
    of: 'check',
    moment: 'before',
    by: ['--timeout'],
    start: startAt(check, silentService),
    found({ stdout, junit, html }, says, { expect }) {
      expect(stdout).toMatch(/^R1 +skipped/m);
      expect(stdout).toContain('\n0 pass, 0 fail, ');
      for (const text of [stdout, html]) expect(text).toMatch(new RegExp(`Stopped: .*${says}`));
      expect(junit).toMatch(new RegExp(`<error type="[\\w-]+" message=".*${says}[",]`));
    },
  },
  {
    name: 'check during its exchanges',
    of: 'check',
    moment: 'during',
    by: ['SIGINT'],
    start: startAt((baseUrl) => [...check(baseUrl), '--json'], slowService),
    found({ stdout, junit, html }, says, { expect, isThere }) {
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      if (isThere) expect(lines.find(({ id }) => id === 'R1')).toMatchObject({ verdict: 'pass' });
      expect(lines.filter(({ type }) => type === 'rule')).toHaveLength(serviceRules.length);
      expect(lines.find(({ type }) => type === 'summary')).toMatchObject({
        type: 'summary',
        stopped: { message: expect.stringContaining(says) },
      });
      if (isThere) expect(html).toMatch(/\d+ pass/);
      expect(junit).toContain('<testcase name="R1: ');
    },
  },
  {
    name: 'check while it writes lines that nobody reads',
    of: 'check',
    moment: 'writes',
    by: ['SIGTERM'],
    async start({ sandbox, env, limit, there }) {
      makeFullPipe(sandbox, 'full');
      const args = 'check --local --rule R1 --html page.html --junit j.xml --json';
      const running = sandbox.startShell(`exec voicectl ${args} ${limit.join(' ')} >full`, { env });
      await there('page.html');
      return running;
    },
    found({ junit, html }, _says, { expect }) {
      expect(html).toContain('<article class="item good" id="R1">');
      expect(junit).toContain('<testcase name="R1: ');
    },
  },
  {
    name: 'learn before its first answer',
    of: 'learn',
    moment: 'before',
    by: [],
    start: startAt(learn, silentService),
    found: ({ stdout }, _says, { expect }) => expect(stdout).toBe(''),
  },
  {
    name: 'learn during its exchanges',
    of: 'learn',
    moment: 'during',
    by: ['SIGHUP'],
    start: startAt(learn, slowService),
    found({ stdout }, says, { expect, isThere }) {
      if (!isThere) return;
      expect(stdout).toMatch(new RegExp(`^# .*Stopped.*${says}`, 'm'));
      expect(stdout).toMatch(/^\w+:/m);
    },
  },
  {
    name: 'drill before the device connects',
    of: 'drill',
    moment: 'before',
    isUnlimited: true,
    by: [],
    killed: 'whole',
    async start({ sandbox, env, expect }) {
      const args = ['drill', '--drill', 'D1', '--drill', 'D5', ...junit, '--', 'sh', '-c', deaf];
      const running = sandbox.start(args, { env });
      await expect.poll(() => findMarked(`CASE=${env.CASE}`), { interval: 100 }).toHaveLength(4);
      return running;
    },
    found: ({ stdout, junit }, says, { expect }) => {
      expect(stdout).toContain(`Stopped: ${says}\n0 pass, 0 fail, 2 skipped`);
      expect(junit).toContain(`message="${says}"`);
    },
  },
  {
    name: 'drill with a device in a stream',
    of: 'drill',
    moment: 'during',
    isUnlimited: true,
    by: ['SIGTERM'],
    async start({ sandbox, env }) {
      const args = ['drill', '--drill', 'D1', '--drill', 'D5', ...junit, '--', process.execPath, device];
      const running = sandbox.start(args, { env });
      await running.line(/^D1 +pass/);
      return running;
    },
    found({ stdout, junit }, says, { expect }) {
      expect(stdout).toMatch(new RegExp(`^D1 +pass .*\\n\\nStopped: ${says}\\n1 pass, 0 fail, 1 skipped`));
      expect(junit).toContain(`message="${says}"`);
      expect(junit).toContain('<testcase name="D1: ');
    },
  },
  {
    name: 'exec with a command that does not listen',
    of: 'exec',
    moment: 'before',
    isUnlimited: true,
    by: ['SIGQUIT'],
    async start({ sandbox, env }) {
      const running = sandbox.start(['exec', '--', 'sh', '-c', `echo runs; ${deaf}`], { env });
      await running.line(/^runs/);
      return running;
    },
  },
  {
    name: 'exec with a command that leaves another one behind',
    of: 'exec',
    moment: 'during',
    isUnlimited: true,
    by: [],
    killed: 'sample',
    async start({ sandbox, env }) {
      const script = `setsid sleep 100 & echo runs; exec sleep 100`;
      const running = sandbox.start(['exec', '--', 'sh', '-c', script], { env });
      await running.line(/^runs/);
      return running;
    },
  },
  {
    name: 'stream while a command judges a reply',
    of: 'stream',
    moment: 'during',
    by: ['SIGQUIT'],
    killed: 'whole',
    async start({ sandbox, env, limit, there }) {
      const run = ['sh', '-c', `touch judging; ${deaf}`];
      const turn = { say: 'hello.wav', judge: { run, within: '100s' } };
      sandbox.write('talk.yaml', JSON.stringify({ turns: [turn] }));
      const args = ['--expect-file', 'talk.yaml', '--local', '--reply', 'echo', ...junit, ...limit];
      const running = sandbox.start(['stream', ...args], { env });
      if (limit.length === 0) await there('judging');
      return running;
    },
    found: ({ junit }, says, { expect }) =>
      expect(junit).toMatch(new RegExp(`<error type="\\w+" message=".*${says}`)),
  },
  {
    name: 'serve with a command that replies',
    of: 'serve',
    moment: 'during',
    isUnlimited: true,
    by: ['SIGTERM'],
    killed: 'sample',
    async start({ sandbox, env, there, onTestFinished }) {
      const reply = `exec:touch replying; ${deaf}`;
      const serve = await sandbox.serve(['--reply', reply], { env });
      // The command is started with the stream.
      const body = JSON.stringify({ apiKey: 'any', deviceId: 'lamp' });
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`${serve.baseUrl}${tokenPath()}`, { method: 'POST', headers, body });
      const { socket, opened, send } = openStream(serve.wsUrl);
      onTestFinished(() => socket.terminate());
      await opened;
      await send(((await answer.json()) as { token: string }).token);
      await there('replying');
      return serve;
    },
    // It ended as it was asked to.
    code: serves,
  },
  {
    name: 'load before its first answer',
    of: 'load',
    moment: 'before',
    by: ['SIGTERM'],
    start: startAt((baseUrl) => [...load(baseUrl), '--processes', '2'], silentService),
    found: ({ stdout, junit }, says, { expect }) => {
      expect(stdout).toMatch(new RegExp(`stopped  .*${says}`));
      expect(junit).toContain(says);
    },
  },
  {
    name: 'load with open streams',
    of: 'load',
    moment: 'during',
    // test/cli/load.test.ts interrupts one.
    by: [],
    async start(scene) {
      const { baseUrl, waitFor } = await startEmulatorFor(scene, {});
      const args = [
        ...load(baseUrl),
        '--task',
        'listen',
        '--hold',
        '100s',
        '--processes',
        'none',
        '--html',
        'page.html',
        ...scene.limit,
      ];
      const running = scene.sandbox.start(args, { env: scene.env });
      await waitFor('stream-authorised');
      return running;
    },
    found({ stdout, junit, html }, says, { expect }) {
      expect(stdout).toMatch(new RegExp(`stopped  .*${says}`));
      expect(junit).toContain(says);
      expect(html).toContain('<h1>');
    },
  },
  {
    name: 'proxy with a device that does not answer the close',
    of: 'proxy',
    moment: 'during',
    isUnlimited: true,
    by: ['SIGHUP'],
    async start(scene) {
      const emulator = await startEmulatorFor(scene, {});
      const args = ['proxy', '--target', emulator.baseUrl, '--port', '0', '--json'];
      const running = scene.sandbox.start(args, { env: scene.env });
      const { wsUrl } = JSON.parse(await running.line(/"type":"listening"/)) as { wsUrl: string };
      const socket = new WebSocket(`${wsUrl}/voice-stream`);
      socket.on('error', () => {});
      scene.onTestFinished(() => socket.terminate());
      await once(socket, 'open');
      socket.pause();
      return running;
    },
    code: serves,
  },
  {
    name: 'learn while it writes lines that nobody reads',
    of: 'learn',
    moment: 'writes',
    by: [],
    start: writing(() => ['learn', '--local', '--json']),
  },
  {
    name: 'drill while it writes lines that nobody reads',
    of: 'drill',
    moment: 'writes',
    by: [],
    isUnlimited: true,
    start: writing(() => ['drill', '--drill', 'D1', '--', process.execPath, device]),
  },
  {
    name: 'load while it writes lines that nobody reads',
    of: 'load',
    moment: 'writes',
    by: [],
    start: writing(async (scene) => {
      const { baseUrl } = await emulatorOf(scene);
      return [...load(baseUrl), '--processes', 'none', '--hold', '100s', '--json'];
    }),
  },
  {
    name: 'load merge before it has read',
    of: 'load merge',
    moment: 'before',
    by: [],
    isUnlimited: true,
    async start(scene) {
      makePipe(scene.sandbox, 'shard.json');
      const running = scene.sandbox.start(['load', 'merge', 'shard.json'], { env: scene.env });
      await whenStill(running, scene);
      return running;
    },
  },
  {
    name: 'exec while its command writes lines that nobody reads',
    of: 'exec',
    moment: 'writes',
    by: [],
    isUnlimited: true,
    start: writing(() => ['exec', '--', 'sh', '-c', 'while :; do echo line; done']),
  },
  {
    name: 'token before its first answer',
    of: 'token',
    moment: 'before',
    // test/cli/token.test.ts interrupts one.
    by: [],
    start: startAt((baseUrl) => ['token', '--base-url', baseUrl], silentService),
    found: ({ stdout }, _says, { expect }) => expect(stdout).toBe(''),
  },
  {
    name: 'token while an answer arrives',
    of: 'token',
    moment: 'during',
    by: [],
    start: startAt((baseUrl) => ['token', '--base-url', baseUrl], endlessService),
    found: ({ stdout }, _says, { expect }) => expect(stdout).toBe(''),
  },
  {
    name: 'token while it writes output that nobody reads',
    of: 'token',
    moment: 'writes',
    by: [],
    start: writing(() => ['token', '--local']),
  },
  {
    name: 'stream before its first answer',
    of: 'stream',
    moment: 'before',
    by: [],
    start: startAt((baseUrl) => [...speech, '--base-url', baseUrl, ...junit], silentService),
    found: ({ junit }, says, { expect }) =>
      expect(junit).toMatch(new RegExp(`<error type="[\\w-]+" message=".*${says}`)),
  },
  {
    name: 'stream while it records',
    of: 'stream',
    moment: 'during',
    by: [],
    start: saying(/service_voice_connected/, () => [
      ...speech,
      ...local,
      '--record',
      'session',
      ...junit,
      '--out',
      'ai.wav',
    ]),
    found({ junit }, says, { expect, sandbox }) {
      expect(junit).toContain(says);
      expect(JSON.parse(sandbox.read('session/summary.json'))).toMatchObject({ ok: false });
      expect(sandbox.read('ai.wav').slice(0, 4)).toBe('RIFF');
    },
  },
  {
    name: 'stream while it writes lines that nobody reads',
    of: 'stream',
    moment: 'writes',
    by: [],
    async start(scene) {
      const { baseUrl, waitFor } = await emulatorOf(scene);
      const running = startUnread(scene, [...speech, '--base-url', baseUrl, '--json', ...junit]);
      await Promise.race([waitFor('stream-authorised'), running.ended]);
      return running;
    },
    found: ({ junit }, says, { expect }) => expect(junit).toContain(says),
  },
  {
    name: 'serve before any request',
    of: 'serve',
    moment: 'before',
    by: [],
    isUnlimited: true,
    start: ({ sandbox, env }) => sandbox.serve([], { env }),
    code: serves,
  },
  {
    name: 'serve while it writes lines that nobody reads',
    of: 'serve',
    moment: 'writes',
    by: [],
    isUnlimited: true,
    start: writing(() => ['serve', '--port', '0', '--json']),
    code: unwritten,
  },
  {
    name: 'proxy before any request',
    of: 'proxy',
    moment: 'before',
    by: [],
    isUnlimited: true,
    start: saying(/listening/, proxyTo),
    code: serves,
  },
  {
    name: 'proxy while it writes lines that nobody reads',
    of: 'proxy',
    moment: 'writes',
    by: [],
    isUnlimited: true,
    start: writing(proxyTo),
    code: unwritten,
  },
  {
    name: 'replay before any request',
    of: 'replay',
    moment: 'before',
    by: [],
    isUnlimited: true,
    start: saying(/listening/, async (scene) => ['replay', await recording(scene), '--port', '0', '--json']),
    code: serves,
  },
  {
    name: 'replay in a stream',
    of: 'replay',
    moment: 'during',
    by: [],
    isUnlimited: true,
    async start(scene) {
      const args = ['replay', await recording(scene), '--port', '0', '--json'];
      const running = scene.sandbox.start(args, { env: scene.env });
      const { baseUrl } = JSON.parse(await running.line(/"type":"listening"/)) as { baseUrl: string };
      scene.sandbox.start([...speech, '--base-url', baseUrl]);
      await running.line(/"type":"stream-authorised"/);
      return running;
    },
    code: serves,
  },
  {
    name: 'replay while it writes lines that nobody reads',
    of: 'replay',
    moment: 'writes',
    by: [],
    isUnlimited: true,
    start: writing(async (scene) => ['replay', await recording(scene), '--port', '0', '--json']),
    code: unwritten,
  },
  {
    name: 'inspect while it writes lines that nobody reads',
    of: 'inspect',
    moment: 'writes',
    by: [],
    isUnlimited: true,
    start: writing(async (scene) => ['inspect', await recording(scene)]),
  },
  {
    name: 'audio while it queries a sound system that hangs',
    of: 'audio',
    moment: 'during',
    by: ['SIGTERM'],
    isUnlimited: true,
    async start(scene) {
      const env = { ...scene.env, ...hangingSound(scene) };
      const running = scene.sandbox.start(['audio', '--audio-backend', 'pulse'], { env });
      await scene.there('probing');
      return running;
    },
  },
  {
    name: 'doctor while it queries a silent service and a sound system that hangs',
    of: 'doctor',
    moment: 'during',
    by: [],
    async start(scene) {
      const { baseUrl, asked } = await silentService(scene);
      const env = { ...scene.env, ...hangingSound(scene) };
      const running = scene.sandbox.start(['doctor', '--base-url', baseUrl, ...scene.limit], { env });
      await Promise.race([asked, running.ended]);
      return running;
    },
  },
  {
    name: 'doctor while it writes lines that nobody reads',
    of: 'doctor',
    moment: 'writes',
    by: [],
    start: writing(async (scene) => ['doctor', '--base-url', (await emulatorOf(scene)).baseUrl]),
  },
  ...[
    'state',
    'journal',
    'journal --follow',
    'reset',
    'clock',
    'fault active',
    'event hello',
    'close',
    `speak ${fixture('hello.wav')}`,
  ].map(
    (words): Ending => ({
      name: `emulator ${words.replace(/ \/.*/, '')} before its first answer`,
      of: `emulator ${words.replace(/ .*/, '')}`,
      moment: 'before',
      by: [],
      start: startAt((baseUrl) => ['emulator', ...words.split(' '), '--base-url', baseUrl], silentService),
    }),
  ),
  ...['state', 'journal', 'journal --follow', 'reset'].map(
    (words): Ending => ({
      name: `emulator ${words} while an answer arrives`,
      of: `emulator ${words.replace(/ .*/, '')}`,
      moment: 'during',
      by: [],
      start: startAt((baseUrl) => ['emulator', ...words.split(' '), '--base-url', baseUrl], endlessService),
    }),
  ),
  ...['state', 'journal --follow'].map(
    (words): Ending => ({
      name: `emulator ${words} while it writes output that nobody reads`,
      of: `emulator ${words.replace(/ .*/, '')}`,
      moment: 'writes',
      by: [],
      start: writing(async (scene) => {
        const { baseUrl } = await emulatorOf(scene);
        await fetch(`${baseUrl}/__voicectl/journal`);
        await fetch(`${baseUrl}/nothing`);
        return ['emulator', ...words.split(' '), '--base-url', baseUrl];
      }),
    }),
  ),
];

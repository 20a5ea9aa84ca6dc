import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { WebSocket } from 'ws';
import { serviceRules } from '../../src/rules/catalogue.ts';
import { startEmulatorFor } from '../helpers/emulators.ts';
import { findMarked } from '../helpers/marked-processes.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { makeFullPipe } from '../helpers/unread-pipe.ts';
import { type Running, type Sandbox, sandboxFor } from '../helpers/voicectl.ts';

/** What asks a command to end: the code that it ends with, and what it says of it. */
const requests = [
  ['SIGINT', 130, 'Interrupted'],
  ['SIGTERM', 143, 'Terminated'],
  ['SIGHUP', 129, 'The terminal hung up'],
  ['SIGQUIT', 131, 'Quit'],
  ['--timeout', 7, 'after 5 s'],
] as const;
type Request = (typeof requests)[number][0];

interface Scene extends Pick<TestContext, 'expect' | 'onTestFinished'> {
  sandbox: Sandbox;
  /** In the environment of all that is started. */
  env: Record<string, string>;
  /** Flags of the limit, if that is what ends the command. */
  limit: string[];
  there(name: string): Promise<unknown>;
  /** Whether the command was where it was to be ended: a limit of time may come before that. */
  isThere?: boolean;
}

interface Case {
  name: string;
  /** Starts the command, and resolves when it is where it is to be ended. */
  start(scene: Scene): Promise<Running>;
  /** What must be there afterwards. */
  found?: (ended: { stdout: string; junit: string; html: string }, says: string, scene: Scene) => void;
  /** What ends it here: each command is ended once in each of its parts, and one of them by everything. */
  by: readonly Request[];
  /** Whether its commands must be gone even if SIGKILL ends it. */
  isKilled?: true;
  code?: (usual: number) => number;
}

/** Two processes, of which one has left the group and neither listens. */
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

/** A service of which each request takes its time, and that says when it was asked for the fourth token. */
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
  (args: (baseUrl: string) => string[], service: typeof silentService): Case['start'] =>
  async (scene) => {
    const { baseUrl, asked } = await service(scene);
    const running = scene.sandbox.start([...args(baseUrl), ...scene.limit], { env: scene.env });
    await Promise.race([asked.then(() => Object.assign(scene, { isThere: true })), running.ended]);
    return running;
  };

const check = (baseUrl: string) => [
  ...['check', '--base-url', baseUrl, '--one-device', '--html', 'page.html', ...junit],
];
const learn = (baseUrl: string) => ['learn', '--base-url', baseUrl, '--one-device'];
const load = (baseUrl: string) => ['load', '--sessions', '5', '--base-url', baseUrl, ...junit];

const cases: Case[] = [
  {
    name: 'check before its first answer',
    by: ['SIGINT', '--timeout'],
    start: startAt(check, silentService),
    found({ stdout, junit, html }, says, { expect }) {
      expect(stdout).toMatch(/^R1 +skipped/m);
      expect(stdout).toContain('\n0 pass, 0 fail, ');
      for (const text of [stdout, html]) expect(text).toMatch(new RegExp(`Stopped: .*${says}`));
      expect(junit).toMatch(new RegExp(`<error type="[\\w-]+" message=".*${says}"`));
    },
  },
  {
    name: 'check while it asks',
    by: requests.map(([request]) => request),
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
    by: ['SIGTERM'],
    async start({ sandbox, env, there }) {
      makeFullPipe(sandbox, 'full');
      const args = 'check --local --rule R1 --html page.html --junit j.xml --json';
      const running = sandbox.startShell(`exec voicectl ${args} >full`, { env });
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
    by: ['SIGHUP'],
    start: startAt(learn, silentService),
    found: ({ stdout }, _says, { expect }) => expect(stdout).toBe(''),
  },
  {
    name: 'learn while it asks',
    by: ['SIGINT'],
    start: startAt(learn, slowService),
    found({ stdout }, says, { expect, isThere }) {
      if (!isThere) return;
      expect(stdout).toMatch(new RegExp(`^# .*Stopped.*${says}`, 'm'));
      expect(stdout).toMatch(/^\w+:/m);
    },
  },
  {
    name: 'drill before the device connects',
    by: ['SIGQUIT'],
    isKilled: true,
    async start({ sandbox, env, expect }) {
      const args = ['drill', '--drill', 'D1', '--drill', 'D5', ...junit, '--', 'sh', '-c', deaf];
      const running = sandbox.start(args, { env });
      await expect.poll(() => findMarked(`CASE=${env.CASE}`)).toHaveLength(4);
      return running;
    },
    found: ({ stdout, junit }, says, { expect }) => {
      expect(stdout).toContain(`Stopped: ${says}\n0 pass, 0 fail, 2 skipped`);
      expect(junit).toContain(`message="${says}"`);
    },
  },
  {
    name: 'drill with a device in a stream',
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
    by: ['SIGQUIT'],
    async start({ sandbox, env }) {
      const running = sandbox.start(['exec', '--', 'sh', '-c', `echo runs; ${deaf}`], { env });
      await running.line(/^runs/);
      return running;
    },
  },
  {
    name: 'exec with a command that leaves another one behind',
    by: ['SIGHUP'],
    isKilled: true,
    async start({ sandbox, env }) {
      const script = `setsid sleep 100 & echo runs; exec sleep 100`;
      const running = sandbox.start(['exec', '--', 'sh', '-c', script], { env });
      await running.line(/^runs/);
      return running;
    },
  },
  {
    name: 'stream while a command judges a reply',
    by: ['SIGQUIT', '--timeout'],
    isKilled: true,
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
    by: ['SIGQUIT'],
    isKilled: true,
    async start({ sandbox, env, there }) {
      const reply = `exec:touch replying; ${deaf}`;
      const serve = await sandbox.serve(['--reply', reply], { env });
      const args = ['stream', '--raw', '/dev/zero', '--base-url', serve.baseUrl];
      sandbox.start(args);
      await there('replying');
      return serve;
    },
    // It ended as it was asked to.
    code: (usual) => (usual === 129 ? 129 : 0),
  },
  {
    name: 'load before its first answer',
    by: ['SIGTERM'],
    start: startAt((baseUrl) => [...load(baseUrl), '--processes', '2'], silentService),
    found: ({ stdout, junit }, says, { expect }) => {
      expect(stdout).toContain(`stopped  ${says}`);
      expect(junit).toContain(says);
    },
  },
  {
    name: 'load with open streams',
    by: ['SIGINT'],
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
      ];
      const running = scene.sandbox.start(args, { env: scene.env });
      await waitFor('stream-authorised');
      return running;
    },
    found({ stdout, junit, html }, says, { expect }) {
      expect(stdout).toContain(`stopped  ${says}`);
      expect(junit).toContain(says);
      expect(html).toContain('<h1>');
    },
  },
  {
    name: 'proxy with a device that does not answer the close',
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
    code: (usual) => (usual === 129 ? 129 : 0),
  },
];

const table = cases.flatMap((one) =>
  requests
    .filter(([request]) => one.by.includes(request))
    .map((request) => ({ ...one, request: request[0], usual: request[1], says: request[2] })),
);

describe.concurrent('within a moment', () => {
  test.for(table)(
    '$request ends $name: what was found is written, and nothing is left',
    async (one, context) => {
      const { expect } = context;
      const sandbox = sandboxFor(context);
      const id = `${one.name}, ${one.request}`.replace(/\W+/g, '-');
      const scene: Scene = {
        ...{ sandbox, expect, env: { CASE: id } },
        onTestFinished: context.onTestFinished,
        limit: one.request === '--timeout' ? ['--timeout', '5s'] : [],
        there: (name) => expect.poll(() => existsSync(sandbox.path(name))).toBe(true),
      };
      const running = await one.start(scene);
      if (one.request !== '--timeout') running.signal(one.request);
      const { code, stdout } = await running.ended;
      expect(code, running.stderr).toBe(one.code?.(one.usual) ?? one.usual);
      const read = (name: string) => (existsSync(sandbox.path(name)) ? sandbox.read(name) : '');
      one.found?.({ stdout, junit: read('j.xml'), html: read('page.html') }, one.says, scene);
      if (process.platform === 'linux') await expect.poll(() => findMarked(`CASE=${id}`)).toEqual([]);
    },
  );
});

describe.skipIf(process.platform !== 'linux').concurrent('SIGKILL of', () => {
  test.for(cases.filter(({ isKilled }) => isKilled))(
    '$name leaves nothing that it started',
    async (one, context) => {
      const { expect } = context;
      const sandbox = sandboxFor(context);
      const env = { CASE: `killed-${one.name}`.replace(/\W+/g, '-') };
      const there = (name: string) => expect.poll(() => existsSync(sandbox.path(name))).toBe(true);
      const running = await one.start({
        expect,
        onTestFinished: context.onTestFinished,
        sandbox,
        env,
        limit: [],
        there,
      });
      running.signal('SIGKILL');
      await running.ended;
      await expect.poll(() => findMarked(`CASE=${env.CASE}`)).toEqual([]);
    },
  );
});

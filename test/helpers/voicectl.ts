import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, type TestContext } from 'vitest';
import { hasten } from './hasten.ts';
import { type InProcessOptions, runInProcess, startInProcess } from './in-process.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createSaid, type Ended, type Program } from './said.ts';
import { createShellHere } from './shell-here.ts';

export { fixture, fixturePcm } from './fixtures.ts';
export type { Ended } from './said.ts';

const root = join(import.meta.dirname, '..', '..');
export const program = join(root, 'bin', 'voicectl.js');

export interface RunOptions {
  env?: Record<string, string>;
  /** What stands on standard input; `open`: nothing, and it never ends. Default: nothing, and it ends. */
  input?: string | Buffer | 'open';
}

export type HereOptions = InProcessOptions;

export interface Running extends Program {
  readonly child: ChildProcess;
}

export interface Sandbox {
  /** The working folder of what is run. */
  readonly dir: string;
  path(name: string): string;
  write(name: string, content: string | Buffer, mode?: number): string;
  read(name: string): string;
  /** Starts the real program. */
  start(args: readonly string[], options?: RunOptions): Running;
  /** Runs the real program to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /**
   * Runs the built program to its end in this process, in the same folder and home: much faster than `run`. Not for
   * signals, terminals, pipes and what else is of a process, nor for a program that starts others. With `--local`, time
   * is moved, unless a part of it all has a time of its own: a device, or a reply by somebody else's code. It is moved too
   * where a clock is given, which may also be that of a service.
   */
  runHere(args: readonly string[], options?: HereOptions): Promise<Ended>;
  /** Runs `sh -c` in the same environment, where `voicectl` is the program. */
  shell(script: string, options?: RunOptions): Promise<Ended>;
  startShell(script: string, options?: RunOptions): Running;
  /**
   * The same, but `voicectl` runs in this process, as in `runHere`: for scripts that call it often. With a clock, time is
   * moved while it runs. `exec` is the real program.
   */
  shellHere(script: string, options?: RunOptions & { clock?: ManualClock }): Promise<Ended>;
  /** Starts `voicectl serve --json` with these flags on a free port. */
  serve(args?: readonly string[], options?: RunOptions): Promise<Running & Addresses>;
  /**
   * Starts the built program in this process, as `runHere` does, with the time of the machine or on the given clock; it is
   * ended after the test. Files are named by their whole paths: it may open them when this process is in its own folder again.
   */
  startHere(args: readonly string[], options?: HereOptions): Promise<Program>;
  /** `serve` in this process: for tests of what talks to it. */
  serveHere(args?: readonly string[], options?: HereOptions): Promise<Program & Addresses>;
  /** From now on `voicectl` runs in this process for all shells of this sandbox. Files are named by their whole paths. */
  standIn(clock?: ManualClock): Promise<void>;
  /** Has `call` called after the test. */
  defer(call: () => unknown): void;
}

export interface Addresses {
  baseUrl: string;
  wsUrl: string;
}

/** The folder of this process while it runs no program. */
const outside = process.cwd();

/**
 * A fresh folder with an own home for each test, and the real program run in it as a child process. After the
 * test every child is killed and the folder removed.
 */
export function setUpSandbox(): Sandbox {
  const sandbox = createSandbox();
  afterEach(sandbox.close);
  return sandbox;
}

/** The same for all tests of a file together: for what takes long to start, and serves them all. */
export function setUpSandboxForAll(): Sandbox {
  const sandbox = createSandbox();
  afterAll(sandbox.close);
  return sandbox;
}

/** The same for one test, of several that run at a time: they may start programs, but not run them in this process. */
export function sandboxFor({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Sandbox {
  const sandbox = createSandbox();
  onTestFinished(sandbox.close);
  return sandbox;
}

function createSandbox(): Sandbox & { close(): Promise<void> } {
  let dir: string | undefined;
  const deferred: (() => unknown)[] = [];
  /** How many programs run in this process. */
  let here = 0;
  const folder = () => {
    if (dir === undefined) {
      dir = mkdtempSync(join(tmpdir(), 'voicectl-cli-'));
      mkdirSync(join(dir, 'home'));
      mkdirSync(join(dir, 'bin'));
      writeFileSync(join(dir, 'bin', 'voicectl'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, {
        mode: 0o755,
      });
    }
    return dir;
  };
  const close = async () => {
    for (const call of deferred.splice(0).reverse()) await call();
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    dir = undefined;
  };

  const launch = (command: string, args: readonly string[], { env = {}, input = '' }: RunOptions = {}) => {
    const home = join(folder(), 'home');
    const running = watchProcess(command, args, {
      cwd: folder(),
      env: {
        PATH: `${join(folder(), 'bin')}:${process.env.PATH}`,
        HOME: home,
        XDG_CONFIG_HOME: join(home, '.config'),
        TMPDIR: tmpdir(),
        ...env,
      },
      // A group of its own, so that what it started ends with it.
      detached: true,
    });
    deferred.push(async () => {
      killGroup(running.child);
      await running.ended;
    });
    if (input !== 'open') running.child.stdin?.end(input);
    return running;
  };
  const environment = () => {
    const home = join(folder(), 'home');
    return { PATH: process.env.PATH ?? '', HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  };
  const inFolder = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    here += 1;
    process.chdir(folder());
    try {
      return await work();
    } finally {
      here -= 1;
      if (here === 0) process.chdir(outside);
    }
  };
  const start: Sandbox['start'] = (args, options) => launch(process.execPath, [program, ...args], options);
  const startHere: Sandbox['startHere'] = (args, { env = {}, ...options } = {}) =>
    inFolder(async () => {
      const running = startInProcess(args, { ...options, env: { ...environment(), ...env } });
      deferred.push(async () => {
        running.signal('SIGTERM');
        await (options.clock === undefined ? running.ended : hasten(options.clock, running.ended));
      });
      return running;
    });
  const standIn: Sandbox['standIn'] = async (clock) => {
    const here = await createShellHere(program, clock);
    deferred.push(here.close);
    writeFileSync(join(folder(), 'bin', 'voicectl'), here.script);
  };
  const startShell: Sandbox['startShell'] = (script, options) => launch('sh', ['-c', script], options);
  return {
    get dir() {
      return folder();
    },
    path: (name) => join(folder(), name),
    write(name, content, mode = 0o644) {
      const path = join(folder(), name);
      writeFileSync(path, content, { mode });
      return path;
    },
    read: (name) => readFileSync(join(folder(), name), 'utf8'),
    start,
    run: (args, options) => start(args, options).ended,
    runHere: (args, { env = {}, ...options } = {}) =>
      inFolder(() =>
        runInProcess(args, {
          ...(hasOneClock(args) && { clock: createManualClock(Date.now()) }),
          ...options,
          env: { ...environment(), ...env },
        }),
      ),
    startShell,
    shell: (script, options) => startShell(script, options).ended,
    shellHere: (script, { clock, ...options } = {}) =>
      inFolder(async () => {
        await standIn(clock);
        return startShell(script, options).ended;
      }),
    async serve(args = [], options = {}) {
      const running = start(['serve', '--port', '0', '--json', ...args], options);
      const { baseUrl, wsUrl } = JSON.parse(await running.line(/"type":"listening"/)) as Addresses;
      return Object.assign(running, { baseUrl, wsUrl });
    },
    startHere,
    serveHere: (args = [], options) =>
      inFolder(async () => {
        const running = await startHere(['serve', '--port', '0', '--json', ...args], options);
        const { baseUrl, wsUrl } = JSON.parse(await running.line(/"type":"listening"/)) as Addresses;
        return Object.assign(running, { baseUrl, wsUrl });
      }),
    standIn,
    defer: (call) => void deferred.push(call),
    close,
  };
}

/** Whether everything that happens follows the clock that the program is given. */
function hasOneClock(args: readonly string[]): boolean {
  return args.includes('--local') && !args.some((arg) => /^(--mic|--play|exec:|module:)/.test(arg));
}

/** Starts a process and remembers all that it says. */
export function watchProcess(command: string, args: readonly string[], options: SpawnOptions): Running {
  const child = spawn(command, args, { stdio: 'pipe', ...options });
  const said = createSaid();
  child.stdout?.on('data', (chunk: Buffer) => said.note('stdout', chunk));
  child.stderr?.on('data', (chunk: Buffer) => said.note('stderr', chunk));
  // A program that does not read to the end of its input closes the pipe.
  child.stdin?.on('error', () => {});
  child.on('close', (code, signal) => said.end(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  const failed = new Promise<never>((_, reject) => child.on('error', reject));
  failed.catch(() => {});
  return {
    child,
    ended: Promise.race([said.ended(), failed]),
    line: said.line,
    signal: (name) => void child.kill(name),
    get stdout() {
      return said.text('stdout');
    },
    get stderr() {
      return said.text('stderr');
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

export type Json = Record<string, unknown> & { type?: string; t?: number };

/** The lines of a JSON output, each parsed. */
export function jsonLines(stdout: string): Json[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Json);
}

/** The one object of this type. */
export function only(lines: readonly Json[], type: string): Json {
  const found = lines.filter((line) => line.type === type);
  if (found.length !== 1) throw new Error(`${found.length} lines of type ${type}`);
  return found[0] as Json;
}

export interface Summary extends Json {
  ok: boolean;
  in: { frames: number; bytes: number; audioMs: number };
  out: { frames: number; bytes: number; audioMs: number };
  events: Record<string, number>;
  close: { code: number; reason: string; name: string } | null;
  verdicts: { name: string; ok: boolean; expected: string; measured: string }[];
}

export function summaryOf(stdout: string): Summary {
  return only(jsonLines(stdout), 'summary') as Summary;
}

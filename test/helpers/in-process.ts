import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Io } from '../../src/kernel/io.ts';
import type { OutputStream } from '../../src/kernel/output-stream.ts';
import type { ManualClock } from './manual-clock.ts';
import type { Ended } from './voicectl.ts';

/** The built program, as the binary loads it. It is loaded much faster than its sources. */
const program = new URL('../../dist/cli.js', import.meta.url).href;
let loaded: Promise<Pick<typeof import('../../src/cli.ts'), 'main'>> | undefined;

/** A frame of 20 ms at four times real time. */
const stepMs = 5;
/** What was written to a socket of this process is read within so many turns of the event loop. */
const turnsPerStep = 4;
/** Now and then the machine is given real time, for what it does beside the event loop. */
const breathEveryMs = 50;

/** Requests to the system that are under way: while there are any, time stands still. */
const isBusy = () =>
  process.getActiveResourcesInfo().some((name) => /^FSReq|GetAddrInfo|Connect|WriteWrap|Shutdown/.test(name));

/** Moves the clock whenever nothing happens in this process, until `work` is done. */
export async function hasten<Result>(clock: ManualClock, work: Promise<Result>): Promise<Result> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  work.then(done, done);
  for (let passedMs = 0; !isDone; passedMs += stepMs) {
    for (let turn = 0; turn < turnsPerStep || isBusy(); turn += 1) await new Promise(setImmediate);
    if (passedMs % breathEveryMs === 0) await sleep(1);
    clock.advance(stepMs);
  }
  return work;
}

export interface InProcessOptions {
  /** Is moved as fast as it can be. Without one, time is that of the machine. */
  clock?: ManualClock;
  env?: Record<string, string>;
  /** What stands on standard input. Default: nothing, and it ends. */
  input?: string | Buffer;
}

/** Runs a command line in this process, in its working folder. */
export async function runInProcess(
  argv: readonly string[],
  { clock, env = {}, input }: InProcessOptions = {},
): Promise<Ended> {
  loaded ??= import(program);
  const { main } = await loaded;
  const said: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  const output = (name: keyof typeof said): OutputStream => ({
    isTTY: false,
    write: async (data) => {
      said[name].push(Buffer.from(data));
    },
  });
  const io: Io = {
    stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout: output('stdout'),
    stderr: output('stderr'),
    env: { HOME: '/nonexistent', ...env },
    cwd: process.cwd(),
    clock: clock ?? systemClock,
    giveUp: new AbortController().signal,
    hurry() {},
    onSignal: () => () => {},
    onCrash() {},
    die() {},
    exit(code) {
      throw new Error(`the program ended itself with ${code}`);
    },
  };
  const running = main(argv, io);
  const code = await (clock === undefined ? running : hasten(clock, running));
  const stdoutBytes = Buffer.concat(said.stdout);
  return { code, stdout: stdoutBytes.toString(), stderr: Buffer.concat(said.stderr).toString(), stdoutBytes };
}

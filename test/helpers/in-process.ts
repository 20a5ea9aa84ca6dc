import { Readable } from 'node:stream';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Io } from '../../src/kernel/io.ts';
import type { OutputStream } from '../../src/kernel/output-stream.ts';
import { hasten } from './hasten.ts';
import type { ManualClock } from './manual-clock.ts';
import type { Ended } from './voicectl.ts';

/** The built program, as the binary loads it. It is loaded much faster than its sources. */
const program = new URL('../../dist/cli.js', import.meta.url).href;
let loaded: Promise<Pick<typeof import('../../src/cli.ts'), 'main'>> | undefined;

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

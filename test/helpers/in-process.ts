import { Readable } from 'node:stream';
import { systemClock } from '../../src/kernel/clock.ts';
import type { EndSignal, Io } from '../../src/kernel/io.ts';
import type { OutputStream } from '../../src/kernel/output-stream.ts';
import { hasten } from './hasten.ts';
import type { ManualClock } from './manual-clock.ts';
import { createSaid, type Ended, type Program } from './said.ts';

/** The built program, as the binary loads it. It is loaded much faster than its sources. */
const program = new URL('../../dist/cli.js', import.meta.url).href;
const loaded = new Map<string, Promise<Pick<typeof import('../../src/cli.ts'), 'main'>>>();

export interface InProcessOptions {
  /** Is moved as fast as it can be. Without one, time is that of the machine. */
  clock?: ManualClock;
  env?: Record<string, string>;
  /** What stands on standard input. Default: nothing, and it ends. */
  input?: string | Buffer;
  /** Whether the program takes its output for a terminal. */
  isTTY?: boolean;
  /** The URL of another copy of the built program. */
  copy?: string;
  /** Is given all output as it comes. */
  onOutput?(stream: 'stdout' | 'stderr', data: Buffer): void;
}

/** Runs a command line in this process, in its working folder, to its end. */
export function runInProcess(argv: readonly string[], options: InProcessOptions = {}): Promise<Ended> {
  const { ended } = startInProcess(argv, options);
  return options.clock === undefined ? ended : hasten(options.clock, ended);
}

/** Starts a command line in this process. Signals are told to the program, which ends by itself. */
export function startInProcess(
  argv: readonly string[],
  { clock, env = {}, input, isTTY = false, copy = program, onOutput = () => {} }: InProcessOptions = {},
): Program {
  const said = createSaid();
  const listeners = new Set<(signal: EndSignal) => void>();
  const output = (stream: 'stdout' | 'stderr'): OutputStream => ({
    isTTY,
    write: async (data) => {
      const bytes = Buffer.from(data);
      said.note(stream, bytes);
      onOutput(stream, bytes);
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
    onSignal(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onCrash() {},
    die() {},
    exit(code) {
      throw new Error(`the program ended itself with ${code}`);
    },
  };
  const loading: NonNullable<ReturnType<typeof loaded.get>> = loaded.get(copy) ?? import(copy);
  loaded.set(copy, loading);
  const failed = loading.then(({ main }) => main(argv, io)).then(said.end);
  return {
    // Rejects where the program does, and else waits for its end.
    ended: Promise.all([said.ended(), failed]).then(([ended]) => ended),
    line: (matches) => Promise.race([said.line(matches), failed.then(() => said.line(matches))]),
    signal(name) {
      for (const listener of listeners) listener(name as EndSignal);
    },
    get stdout() {
      return said.text('stdout');
    },
    get stderr() {
      return said.text('stderr');
    },
  };
}

import { devNull } from 'node:os';
import { createInterface } from 'node:readline';
import { type ClockTimer, systemClock } from '../../kernel/clock.ts';
import { type CommandProcess, startCommand } from '../../kernel/command-process.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';

/** A line of JSON that a command has printed. */
export type PrintedLine = Record<string, unknown> & { type?: string };

export interface ChildOptions {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string | undefined;
  /** Called for each line, as it comes. */
  onLine(line: PrintedLine): void;
}

/** A command of voicectl in a process of its own. */
export interface ChildCommand {
  /** Resolves with its exit code when it has ended, by itself or by `end`. */
  readonly ended: Promise<number>;
  /** The end of its output on standard error. */
  errors(): string;
  /** Ends it and everything that it started: it has a moment to write what it found. */
  end(): Promise<void>;
}

/** A command ends within 2 s of a signal; a busy machine may need longer. */
const graceMs = 5_000;
const keptErrors = 4_000;

/**
 * Starts `voicectl NAME --json ARGS…`. It does not see the settings of this process: no config file, and of our environment
 * only the key that `env` has.
 */
export function startChild(
  name: string,
  args: readonly string[],
  { env, cwd, onLine }: ChildOptions,
): ChildCommand {
  const words = [...name.split(' '), '--json', '--config', devNull, ...args];
  const running = startProgram(words, env, cwd);
  let errors = '';
  running.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-keptErrors);
  });
  const { stdout } = running.child;
  const read = new Promise<void>((resolve) => {
    if (stdout === null) return resolve();
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      const parsed = parseLine(line);
      if (parsed !== undefined) onLine(parsed);
    });
    lines.on('close', resolve);
  });
  const failed = new Promise<never>((_, reject) => {
    running.started.catch((cause) =>
      reject(new VoicectlError('input-output', `Cannot start voicectl ${name}`, { cause })),
    );
  });
  const ended = Promise.race([Promise.all([running.ended, read]), failed]).then(async ([{ code }]) => {
    // Processes that it left behind end too.
    await running.end({ graceMs: 0 });
    return code ?? 143;
  });
  ended.catch(() => {});
  return {
    ended,
    errors: () => errors.trim(),
    async end() {
      running.signal('SIGTERM');
      let timer: ClockTimer | undefined;
      const late = new Promise<void>((resolve) => {
        timer = systemClock.after(graceMs, resolve);
      });
      await Promise.race([ended, late]).catch(() => {});
      timer?.cancel();
      await running.end({ graceMs: 0 });
    },
  };
}

function startProgram(
  words: readonly string[],
  env: ChildOptions['env'],
  cwd: ChildOptions['cwd'],
): CommandProcess {
  const program = process.argv[1] ?? '';
  return startCommand(process.execPath, [program, ...words], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
}

function parseLine(line: string): PrintedLine | undefined {
  const value = parseJson(line);
  return value === undefined || isRecord(value) ? value : { value };
}

/** The environment of a command without our settings and without what makes it report to a pipeline. */
export function plainEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(VOICECTL_|GITHUB_|CI$|BUILD_)/.test(name)),
  );
}

import { generalOptions, type OptionName, optionSpec } from '../config/options.ts';
import { type ClockTimer, systemClock } from '../kernel/clock.ts';
import { setUpEngine } from '../kernel/engine-flags.ts';
import { type ErrorCode, toVoicectlError, VoicectlError } from '../kernel/errors.ts';
import { escapeText, jsonLine } from '../kernel/escape.ts';
import { endReasons, type Io } from '../kernel/io.ts';
import { createDeferred } from '../kernel/promises.ts';
import { isForeignError } from '../kernel/uncaught.ts';
import { chooseOutput, type OutputForm } from '../report/output-form.ts';
import { createStyle } from '../report/style.ts';
import { type CommandSpec, withHelpHint } from './command.ts';
import type { RunCommand } from './program.ts';

export interface RunnerEvents {
  /** Called with the form of output that the settings, including the config file, ask for. */
  formed(form: OutputForm): void;
  /** Called if SIGHUP has ended the command: once its end is reported, the process ends in the same way. */
  hungUp(): void;
}

/** Gives a command its settings, signal, input and output, and runs it. */
export function createRunner(io: Io, events: RunnerEvents): RunCommand {
  return async (entry, ...given) => {
    const ending = createEnding(io);
    const limit = createTimeLimit(io, ending);
    try {
      return await runWithin({ io, ending, limit, formed: events.formed }, entry, ...given);
    } finally {
      limit.cancel();
      ending.stop();
      if (codeOf(ending.signal.reason) === 'hung-up') events.hungUp();
      // Nobody reads it any more, and an open stream would keep the process alive.
      io.stdin.destroy();
    }
  };
}

interface Frame extends Pick<RunnerEvents, 'formed'> {
  io: Io;
  ending: ReturnType<typeof createEnding>;
  limit: ReturnType<typeof createTimeLimit>;
}

/** Runs a command until it ends, or is too late after a request to end. */
async function runWithin(
  { io, ending, limit, formed }: Frame,
  ...[{ spec, load }, flags, args, renamed]: Parameters<RunCommand>
): Promise<number> {
  const { readFlag, resolveSettings } = await import('../config/settings.ts');
  await setUpEngine();
  const names: OptionName[] = [...spec.options, ...generalOptions];
  // A note that cannot be written does not fail the command: the result does not depend on it.
  const writeNote = (text: string) => io.stderr.write(`${escapeText(text)}\n`).catch(() => {});
  const resolve = async () => {
    const found = await resolveSettings(names, {
      flags,
      env: io.env,
      cwd: io.cwd,
      inputs: filesOf(spec, args),
      signal: ending.signal,
    });
    await requireOutputs(found.settings);
    return found;
  };
  limit.set(await readFlag('timeout', flags));
  limit.awaits('the config file');
  const resolved = await resolve().catch(async (thrown) => {
    const refused = toVoicectlError(withHelpHint(thrown, spec.name));
    if (!names.includes('junit')) throw refused;
    // A pipeline also gets a report of a refused run.
    const { reportRun } = await import('./run-reporter.ts');
    const isAtFault = refused.details.problems?.some((one) => 'path' in one && one.path === '--junit');
    const junit = typeof flags.junit === 'string' && !isAtFault ? flags.junit : undefined;
    const about = { command: spec.name, subject: 'settings', junit };
    return reportRun({ io, warn: writeNote }, about, () => Promise.reject(refused));
  });
  const { output, color, quiet = false, verbose = false, debug = false, timeout, out } = resolved.settings;
  const json = resolved.settings.json === true;
  const lines = out === '-' ? io.stderr : io.stdout;
  formed({ json, lines, debug });
  if (!quiet) {
    const lines = [...(renamed === undefined ? [] : [renamed]), ...resolved.renamed];
    for (const line of lines) await writeNote(`voicectl: ${line}`);
  }
  limit.set(timeout);
  limit.awaits(undefined);
  const hasColour = color !== false && !io.env.NO_COLOR && io.env.TERM !== 'dumb' && io.stdout.isTTY;
  const chosen = chooseOutput(json ? 'json' : output, io, !quiet && !usesStandardStreams(resolved.settings));
  const isDrawn = chosen === 'tui' && spec.hasScreen?.(resolved.settings) === true;
  const drawThread = isDrawn
    ? (await import('../ui/draw-thread.ts')).startDrawThread({ colour: hasColour })
    : undefined;
  try {
    const run = await load();
    const command = run({
      ...resolved,
      io,
      args,
      stdin: io.stdin,
      signal: ending.signal,
      lines,
      json,
      output: chosen === 'tui' && !isDrawn ? 'plain' : chosen,
      drawThread,
      colour: hasColour,
      quiet,
      verbose,
      style: createStyle(hasColour),
      leaveCtrlC: ending.leaveCtrlC,
      awaits: limit.awaits,
      print: (value, text) => lines.write(json ? jsonLine(value) : `${text.join('\n')}\n`),
      note: async (text) => (quiet ? undefined : writeNote(text)),
      warn: writeNote,
    }).catch((thrown) => {
      throw withHelpHint(thrown, spec.name);
    });
    const code = await Promise.race([command, ending.isLate]);
    // A command that ends cleanly still fails if a bug made it end.
    if (ending.crash !== undefined) throw ending.crash;
    return code ?? 0;
  } finally {
    void drawThread?.worker.terminate();
  }
}

/** The arguments that name files and folders which the command reads. Those of another program are its own. */
function filesOf({ args: specs = [], passThrough }: CommandSpec, args: readonly string[]) {
  if (passThrough) return [];
  return args.flatMap((path, index) => {
    const [label = '', , values] = specs[index] ?? specs.at(-1) ?? [];
    return values === 'files' || values === 'folders' ? [{ label, path }] : [];
  });
}

/** Throws `input-output` if a result or a report could not be written at the end. */
async function requireOutputs(settings: object): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    const isResult = optionSpec(name as OptionName).path === 'written';
    if (!isResult || typeof value !== 'string' || value === '-') continue;
    const { requireWritable } = await import('../files/output-file.ts');
    await requireWritable(value);
  }
}

/** Whether a setting uses standard input or output, which a screen needs for itself. */
function usesStandardStreams(settings: object): boolean {
  return Object.entries(settings).some(([name, value]) => value === '-' && name !== 'device');
}

function codeOf(reason: unknown): ErrorCode | undefined {
  return reason instanceof VoicectlError ? reason.code : undefined;
}

function timedOut(ms: number, awaited: string | undefined): VoicectlError {
  const what = awaited === undefined ? '' : `, waiting for ${awaited}`;
  return new VoicectlError('timed-out', `Timed out after ${ms / 1000} s${what}`, {
    hint: '--timeout sets this limit.',
  });
}

/** `--timeout`, which also limits the reading of the config file that may set it. */
function createTimeLimit({ clock }: Io, ending: Pick<ReturnType<typeof createEnding>, 'end'>) {
  let awaited: string | undefined;
  let limitMs: unknown;
  let timer: ClockTimer | undefined;
  return {
    set(ms: unknown) {
      if (ms === limitMs || typeof ms !== 'number') return;
      timer?.cancel();
      limitMs = ms;
      timer = clock.after(ms, () => ending.end(timedOut(ms, awaited)));
    },
    awaits(what: string | undefined) {
      awaited = what;
    },
    cancel: () => timer?.cancel(),
  };
}

/**
 * How long a command may take after a request to end. Normally it ends within 2 s; a busy machine may
 * need longer to write what was found.
 */
const longestEndMs = 5_000;

/** Asks the command to end on a request of the user or the system, or after a crash. A second request ends it at once. */
function createEnding(io: Io) {
  const controller = new AbortController();
  /** Whether Ctrl-C in the terminal is for a program of the user, which gets it too and decides what to do. */
  let isCtrlCLeft = false;
  const late = createDeferred<never>();
  late.promise.catch(() => {});
  const end = (reason: VoicectlError) => {
    controller.abort(reason);
    io.hurry(reason);
    systemClock.after(longestEndMs, () => late.reject(reason), { background: true });
  };
  const stop = io.onSignal((name) => {
    const { code, message } = endReasons[name];
    const reason = new VoicectlError(code, message);
    if (isCtrlCLeft && (name === 'SIGINT' || name === 'SIGQUIT')) return;
    if (!controller.signal.aborted) end(reason);
    else io.exit(reason.exitCode);
  });
  let crash: VoicectlError | undefined;
  io.onCrash((thrown) => {
    if (isForeignError(thrown)) return;
    crash ??= toVoicectlError(thrown);
    end(crash);
  });
  return {
    ...{ signal: controller.signal, isLate: late.promise, end, stop },
    leaveCtrlC(isLeft: boolean) {
      isCtrlCLeft = isLeft && io.stdin.isTTY === true;
    },
    /** The uncaught error. */
    get crash() {
      return crash;
    },
  };
}

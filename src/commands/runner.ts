import { generalOptions, type OptionName } from '../config/options.ts';
import { toVoicectlError, VoicectlError } from '../errors.ts';
import { escapeText } from '../escape.ts';
import type { Io } from '../io.ts';
import { createStyle } from '../report/style.ts';
import type { RunCommand } from './program.ts';

/** Gives a command its settings, its signal and its way to the world, and runs it. */
export function createRunner(io: Io): RunCommand {
  return async (spec, flags, args) => {
    const { resolveSettings } = await import('../config/settings.ts');
    const names: OptionName[] = [...spec.options, ...generalOptions];
    const resolved = await resolveSettings(names, { flags, env: io.env, cwd: io.cwd });
    const { output, json, color, quiet = false, verbose = false, timeout } = resolved.settings;
    const ending = createEnding(io);
    const limit =
      timeout === undefined ? undefined : setTimeout(() => ending.end(timedOut(timeout)), timeout);
    const hasColour = color !== false && !io.env.NO_COLOR && io.env.TERM !== 'dumb' && io.stdout.isTTY;
    try {
      const code = await spec.run({
        ...resolved,
        io,
        args,
        signal: ending.signal,
        json: json === true || output === 'json',
        quiet,
        verbose,
        style: createStyle(hasColour),
        async note(text) {
          if (!quiet) await io.stderr.write(`${escapeText(text)}\n`);
        },
      });
      return code ?? 0;
    } finally {
      clearTimeout(limit);
      ending.stop();
    }
  };
}

function timedOut(ms: number): VoicectlError {
  return new VoicectlError('timed-out', `Not done within ${ms / 1000} s`, {
    hint: '--timeout sets this limit.',
  });
}

/** Asks the command to end when the user, the system or a crash wants it to; the second request ends at once. */
function createEnding(io: Io) {
  const controller = new AbortController();
  const end = (reason: VoicectlError) => controller.abort(reason);
  const stop = io.onSignal((name) => {
    const reason =
      name === 'SIGINT'
        ? new VoicectlError('interrupted', 'Interrupted')
        : new VoicectlError('terminated', 'Terminated');
    if (controller.signal.aborted) io.exit(reason.exitCode);
    end(reason);
  });
  io.onCrash((thrown) => end(toVoicectlError(thrown)));
  return { signal: controller.signal, end, stop };
}

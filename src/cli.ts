import { isError, toVoicectlError, type VoicectlError } from './kernel/errors.ts';
import { escapeText, jsonLine } from './kernel/escape.ts';
import { createProcessIo, type Io } from './kernel/io.ts';
import { bugsAddress, version } from './kernel/version.ts';
import { guessOutputForm, type OutputForm } from './report/output-form.ts';

export { createProcessIo };

/**
 * Runs one command line. Returns the exit code and never throws. This is the only place where an
 * error becomes a message.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const exitCode = await runAndReport(argv, io);
  // Unread output keeps a process alive.
  const leave = () => io.exit(exitCode);
  if (io.giveUp.aborted) leave();
  io.giveUp.addEventListener('abort', leave, { once: true });
  return exitCode;
}

async function runAndReport(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  let form = guessOutputForm(argv, io);
  let isHungUp = false;
  try {
    // The quickest answers do not load the command tree.
    if (first === '--version' || first === '-V') {
      const isVerbose = argv.includes('--verbose') || argv.includes('-v');
      const lines = isVerbose ? (await import('./commands/describe-version.ts')).describeVersion() : version;
      await io.stdout.write(`${lines}\n`);
      return 0;
    }
    if (first === 'completion' || first === 'complete') {
      const { runCompletion } = await import('./commands/completion/run.ts');
      if (!argv.includes('--help') && !argv.includes('-h')) return await runCompletion(argv, io);
    }
    const { runProgram, createRunner } = await import('./commands/run-program.ts');
    const run = createRunner(io, {
      formed(known) {
        form = known;
      },
      hungUp() {
        isHungUp = true;
      },
    });
    return await runProgram(argv, io, run);
  } catch (thrown) {
    const error = toVoicectlError(thrown);
    const exitCode = await report(error, form, io);
    // After a bug, unknown open handles could keep the process alive.
    if (error.code === 'internal') io.exit(exitCode);
    return exitCode;
  } finally {
    if (isHungUp) io.die('SIGHUP');
  }
}

async function report(error: VoicectlError, form: OutputForm, io: Io): Promise<number> {
  const exitCode = error.details.exitCode ?? error.exitCode;
  // A reader that closes a pipe has read enough.
  if (error.code === 'closed-pipe' && !form.debug) return exitCode;
  const lines = [`voicectl: ${escapeText(error.message)}`];
  if (error.hint !== undefined) lines.push(`  ${escapeText(error.hint)}`);
  if (error.code === 'internal')
    lines.push(`  This is a bug in voicectl. Please report it to ${bugsAddress}`);
  if (error.code === 'internal' || form.debug) lines.push(...stackLines(error));
  // If these lines cannot be written either, there is nothing left to do.
  await io.stderr.write(`${lines.join('\n')}\n`).catch(() => {});
  if (form.json) {
    const { failureKind } = await import('./kernel/failure-kind.ts');
    const { code, message, hint, details } = error;
    await form.lines
      .write(jsonLine({ type: 'error', code, kind: failureKind(error), exitCode, message, hint, details }))
      .catch(() => {});
  }
  return exitCode;
}

/** The stack of an error, one call per line. The message may come from a service: it stays on one line. */
function stackLines(error: VoicectlError): string[] {
  const { cause } = error;
  const thrown = error.code === 'internal' && isError(cause) ? cause : error;
  const { stack = '', message, name } = thrown;
  const at = stack.indexOf(message);
  const calls = at < 0 ? '' : stack.slice(at + message.length);
  return [`${name}: ${message}`, ...calls.split('\n').filter((line) => line !== '')].map(escapeText);
}

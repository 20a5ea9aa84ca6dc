import { toVoicectlError, type VoicectlError } from './kernel/errors.ts';
import { escapeText, jsonLine } from './kernel/escape.ts';
import { createProcessIo, type Io } from './kernel/io.ts';
import { version } from './kernel/version.ts';
import { guessOutputForm, type OutputForm } from './report/output-form.ts';

export { createProcessIo };

/** Where to report a bug. */
const issuesUrl = 'https://github.com/voicectl/voicectl/issues';

/**
 * Runs one command line. The result is the exit code; nothing is thrown. This is the only place where an
 * error becomes a message.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  let form = guessOutputForm(argv, io);
  try {
    // The quickest answers come before the command tree is loaded.
    if (first === '--version' || first === '-V') {
      await io.stdout.write(`${version}\n`);
      return 0;
    }
    if (first === 'completion' || first === 'complete') {
      const { runCompletion } = await import('./commands/completion/run.ts');
      if (!argv.includes('--help') && !argv.includes('-h')) return await runCompletion(argv, io);
    }
    const { runProgram, createRunner } = await import('./commands/run-program.ts');
    const run = createRunner(io, (known) => {
      form = known;
    });
    return await runProgram(argv, io, run);
  } catch (thrown) {
    const error = toVoicectlError(thrown);
    const exitCode = await report(error, form, io);
    // After a bug nobody knows what is still open and would keep the process.
    if (error.code === 'internal') io.exit(exitCode);
    return exitCode;
  }
}

async function report(error: VoicectlError, form: OutputForm, io: Io): Promise<number> {
  const exitCode = error.details.exitCode ?? error.exitCode;
  const lines = [`voicectl: ${escapeText(error.message)}`];
  if (error.hint !== undefined) lines.push(`  ${escapeText(error.hint)}`);
  if (error.code === 'internal') lines.push(`  This is a bug in voicectl. Please report it: ${issuesUrl}`);
  if (error.code === 'internal' || form.debug)
    lines.push(stackOf(error).split('\n').map(escapeText).join('\n'));
  // Where even these cannot be written there is nobody left to tell.
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

function stackOf(error: VoicectlError): string {
  const cause = error.cause instanceof Error ? error.cause : undefined;
  return (error.code === 'internal' ? cause?.stack : undefined) ?? error.stack ?? '';
}

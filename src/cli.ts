import { toVoicectlError, type VoicectlError } from './errors.ts';
import { createProcessIo, type Io } from './io.ts';
import { version } from './version.ts';

export { createProcessIo };

/** Where to report a bug. */
const issuesUrl = 'https://github.com/voicectl/voicectl/issues';

/**
 * Runs one command line. The result is the exit code; nothing is thrown. This is the only place where an
 * error becomes a message.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  try {
    // The quickest answers come before the command tree is loaded.
    if (first === '--version' || first === '-V') {
      await io.stdout.write(`${version}\n`);
      return 0;
    }
    if (first === 'completion' || first === 'complete') {
      const { runCompletion } = await import('./commands/completion.ts');
      if (!argv.includes('--help') && !argv.includes('-h')) return await runCompletion(argv);
    }
    const { runProgram } = await import('./commands/program.ts');
    const { createRunner } = await import('./commands/runner.ts');
    return await runProgram(argv, io, createRunner(io));
  } catch (thrown) {
    return await report(toVoicectlError(thrown), argv, io);
  }
}

async function report(error: VoicectlError, argv: readonly string[], io: Io): Promise<number> {
  const { escapeText, jsonLine } = await import('./escape.ts');
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const json =
    own.includes('--json') || own.includes('--output=json') || own[own.indexOf('--output') + 1] === 'json';
  const exitCode = typeof error.details.exitCode === 'number' ? error.details.exitCode : error.exitCode;
  const lines = [`voicectl: ${escapeText(error.message)}`];
  if (error.hint !== undefined) lines.push(`  ${escapeText(error.hint)}`);
  if (error.code === 'internal') lines.push(`  This is a bug in voicectl. Please report it: ${issuesUrl}`);
  if (error.code === 'internal' || own.includes('--debug'))
    lines.push(stackOf(error).split('\n').map(escapeText).join('\n'));
  // Where even these cannot be written there is nobody left to tell.
  await io.stderr.write(`${lines.join('\n')}\n`).catch(() => {});
  if (json) {
    const { code, message, hint, details } = error;
    await io.stdout
      .write(jsonLine({ type: 'error', code, exitCode, message, hint, details }))
      .catch(() => {});
  }
  return exitCode;
}

function stackOf(error: VoicectlError): string {
  const cause = error.cause instanceof Error ? error.cause : undefined;
  return (error.code === 'internal' ? cause?.stack : undefined) ?? error.stack ?? '';
}

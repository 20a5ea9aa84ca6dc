import tab from '@bomb.sh/tab/commander';
import { parseChoice } from '../config/parse.ts';
import { VoicectlError } from '../errors.ts';
import { buildProgram } from './program.ts';

const parseShell = parseChoice(['bash', 'zsh', 'fish']);

/**
 * `voicectl completion SHELL` prints the script; the script calls `voicectl complete -- WORDS…` for what
 * fits. Both come from the command tree, so that they cannot fall behind it.
 */
export async function runCompletion(argv: readonly string[]): Promise<number> {
  const [name, shell, ...rest] = argv;
  if (name === 'completion') {
    try {
      parseShell(shell ?? '');
    } catch (thrown) {
      throw new VoicectlError('usage', `completion: ${(thrown as Error).message}`);
    }
    if (rest.length > 0) throw new VoicectlError('usage', 'completion takes one shell');
  }
  const program = buildProgram(
    () => {},
    async () => 0,
  );
  // The tree shows the command; here the library puts its own in that place.
  (program.commands as typeof program.commands & unknown[]).splice(
    program.commands.findIndex((command) => command.name() === 'completion'),
    1,
  );
  tab(program, { completionCommandName: 'completion' });
  await program.parseAsync([...argv], { from: 'user' });
  return 0;
}

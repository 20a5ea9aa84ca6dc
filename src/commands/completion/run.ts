import tab from '@bomb.sh/tab/commander';
import { parseChoice } from '../../config/parse.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import type { Io } from '../../kernel/io.ts';
import { buildProgram } from '../program.ts';

const parseShell = parseChoice(['bash', 'zsh', 'fish']);

/** A replacement for the only function of the bash-completion package that the script calls. */
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
  _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}")
    cword=$COMP_CWORD
    cur=\${words[cword]}
    prev=\${words[cword > 0 ? cword - 1 : 0]}
  }
fi
`;

/**
 * `voicectl completion SHELL` prints the script; the script calls `voicectl complete -- WORDS…` for what
 * fits. Both come from the command tree, so that they are always up to date.
 */
export async function runCompletion(argv: readonly string[], io: Io): Promise<number> {
  const [name, shell, ...rest] = argv;
  if (name === 'completion') {
    try {
      parseShell(shell ?? '');
    } catch (thrown) {
      throw new VoicectlError('usage', `completion: ${(thrown as Error).message}`);
    }
    if (rest.length > 0) throw new VoicectlError('usage', 'completion expects one shell');
  }
  const program = buildProgram(
    () => {},
    async () => 0,
  );
  // The library replaces this command of the tree by its own.
  (program.commands as typeof program.commands & unknown[]).splice(
    program.commands.findIndex((command) => command.name() === 'completion'),
    1,
  );
  if (name === 'completion' && shell === 'bash') await io.stdout.write(bashWords);
  tab(program, { completionCommandName: 'completion' });
  await program.parseAsync([...argv], { from: 'user' });
  // The library ignores print failures. After one, this write fails too.
  await io.stdout.write('');
  return 0;
}

import { parseChoice } from '../../config/parse.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { Io } from '../../kernel/io.ts';
import { answerCompletion } from './answer.ts';
import { completionScripts } from './scripts.ts';

const parseShell = parseChoice(['bash', 'zsh', 'fish']);

/**
 * `voicectl completion SHELL` prints the script; the script calls `voicectl complete -- WORDS…` for what
 * fits. Both come from the tables of commands and options, so that they are always up to date.
 */
export async function runCompletion(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === 'complete') {
    const { values, paths } = await answerCompletion(rest[0] === '--' ? rest.slice(1) : rest, io);
    const lines = values.map(({ value, help }) => `${escapeText(value)}\t${escapeText(help)}\n`);
    await io.stdout.write(`${lines.join('')}:${paths}\n`);
    return 0;
  }
  await io.stdout.write(completionScripts[readShell(rest)]);
  return 0;
}

function readShell([shell = '', ...rest]: readonly string[]): keyof typeof completionScripts {
  if (rest.length > 0) throw new VoicectlError('usage', 'completion expects one shell');
  try {
    return parseShell(shell);
  } catch (thrown) {
    throw new VoicectlError('usage', `completion: ${(thrown as Error).message}`);
  }
}

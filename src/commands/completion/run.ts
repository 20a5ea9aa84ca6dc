import { parseChoice } from '../../config/parse.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { escapeText } from '../../kernel/escape.ts';
import type { Io } from '../../kernel/io.ts';
import { answerCompletion } from './answer.ts';

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

/**
 * Completion scripts. Each gives the words up to the cursor to `voicectl complete -- WORDS…`, whose lines are values with
 * what they are, and last `:files`, `:folders` or `:none`: the names that the shell adds. No word is evaluated.
 */
const completionScripts = {
  bash: `# bash completion for voicectl
_voicectl_complete() {
  local line=\${COMP_LINE:0:COMP_POINT} IFS=$' \\t\\n' words current typed cut kind=none values=() one
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=\${words[\${#words[@]}-1]}
  typed=$current
  [[ $typed == --*=* ]] && typed=\${typed#*=}
  # Bash completes what follows the last of these characters.
  cut=\${typed%"\${typed##*[:=]}"}
  while IFS=$'\\t' read -r one _; do
    case $one in
      :*) kind=\${one#:} ;;
      # Bash puts a value into the line as it is: one with other characters would be read as something else.
      *[!A-Za-z0-9_.:,=/+%@-]*) ;;
      *) values+=("\${one#"$cut"}") ;;
    esac
  done < <(voicectl complete -- "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=("\${values[@]}")
  IFS=$'\\n'
  case $kind in
    files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$typed")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$typed")) ;;
  esac
  [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
}
complete -F _voicectl_complete voicectl
`,
  zsh: `#compdef voicectl
_voicectl() {
  local -a lines values
  local line kind found=1
  lines=("\${(@f)$(voicectl complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[-1]
  for line in "\${(@)lines[1,-2]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  compset -P '--*='
  (( $#values )) && _describe -V value values && found=0
  case $kind in
    :files) _files && found=0 ;;
    :folders) _files -/ && found=0 ;;
  esac
  return found
}
if [[ $funcstack[1] == _voicectl ]]; then _voicectl "$@"; else compdef _voicectl voicectl; fi
`,
  fish: `# fish completion for voicectl
function __voicectl_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l flag (string match -r -- '^--[^=]+=' "$current")
  set -l typed (string replace -r -- '^--[^=]+=' '' "$current")
  for line in (voicectl complete -- $before[2..-1] "$current" 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path "$typed" | string replace -r -- '^' "$flag"
      case ':folders'
        __fish_complete_directories "$typed" | string replace -r -- '^' "$flag"
      case ':none'
      case '*'
        echo "$flag$line"
    end
  end
end
complete -c voicectl -f -a '(__voicectl_complete)'
`,
} as const;

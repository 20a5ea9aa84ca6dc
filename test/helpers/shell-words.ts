/**
 * The command lines of a shell script that call voicectl, each as its arguments. Understands what the documentation
 * uses: quotes, comments, `\` at the end of a line, pipes, lists, redirections and `$(…)`. Variables stay as written.
 */
export function voicectlCalls(script: string): string[][] {
  return simpleCommands(script.replaceAll('\\\n', ' ')).flatMap((words) => {
    const start = words.findIndex((word) => !/^\w+=/.test(word) && !launchers.has(word));
    return words[start] === 'voicectl' ? [words.slice(start + 1)] : [];
  });
}

/** What may stand before the program's name. */
const launchers = new Set(['npx', '--no', 'exec', 'source']);

const token =
  /(?<comment>(?<=^|\s)#.*)|(?<end>\$\(|<\(|[|&;()\n]+)|(?<redirection>\d*[<>]+\s*[^\s|&;)]+)|(?<word>(?:"[^"]*"|'[^']*'|\\.|[^\s|&;()<>"'\\])+)/gm;

/** The words of each command between pipes, semicolons and the like. */
function simpleCommands(script: string): string[][] {
  const found: string[][] = [[]];
  for (const { groups = {} } of script.matchAll(token)) {
    if (groups.end !== undefined) found.push([]);
    else if (groups.word !== undefined) found.at(-1)?.push(unquote(groups.word));
  }
  return found;
}

function unquote(word: string): string {
  return word.replace(/"([^"]*)"|'([^']*)'|\\(.)/g, (_all, double = '', single = '', escaped = '') =>
    [double, single, escaped].join(''),
  );
}

/** A key by its name; a character is its own name. */
export type Key = string;

/** What terminals send for keys that are not characters (xterm and similar; VT220 for home and end). */
const sequences: Record<string, Key> = {
  '\u001b[A': 'up',
  '\u001b[B': 'down',
  '\u001b[C': 'right',
  '\u001b[D': 'left',
  '\u001bOA': 'up',
  '\u001bOB': 'down',
  '\u001bOC': 'right',
  '\u001bOD': 'left',
  '\u001b[H': 'home',
  '\u001b[F': 'end',
  '\u001bOH': 'home',
  '\u001bOF': 'end',
  '\u001b[1~': 'home',
  '\u001b[4~': 'end',
  '\u001b[7~': 'home',
  '\u001b[8~': 'end',
  '\u001b[5~': 'pageup',
  '\u001b[6~': 'pagedown',
  '\u001b': 'escape',
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  ' ': 'space',
  '\u007f': 'backspace',
  '\b': 'backspace',
};

/** One key: a sequence with its parameters, Escape, or a character. */
const oneKey = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001bO.|\u001b|[\s\S]/gu;

/** The keys in the input of a terminal. Unknown sequences are left out. */
export function readKeys(input: string): Key[] {
  return (input.match(oneKey) ?? []).flatMap((text) => {
    const named = sequences[text];
    if (named !== undefined) return [named];
    return /^[\u0000-\u001f\u007f-\u009f]/.test(text) ? [] : [text];
  });
}

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

/** What a user did at the terminal. */
export type UserInput = { key: Key } | { pasted: string };

/** A terminal sends these around a paste in bracketed paste mode, which the screen switches on. */
const startOfPaste = '\u001b[200~';
const endOfPaste = '\u001b[201~';

/** What stands at the end of a read if one of both was cut in two. */
const cutMark = /\u001b(?:\[(?:2(?:0[01]?)?)?)?$/;

/** How much of a paste is kept: more than anyone types. */
export const maxPasted = 4_096;

/** One key: a sequence with its parameters, Escape, or a character. */
const oneKey = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001bO[ -~]|\u001b|[\s\S]/gu;

/**
 * Reads the input of a terminal, of which a paste may be cut anywhere. Unknown sequences are left out.
 * If the end of a paste never comes, a key with a sequence of its own, such as Escape, ends it.
 */
export function createKeyReader(): (input: string) => UserInput[] {
  let isPaste = false;
  let room = 0;
  let rest = '';
  let hasEscape = false;

  /** The parts of the input, without a mark at its end whose rest is still to come. */
  const split = (input: string): readonly string[] => {
    // Escape has acted, because nothing followed it: it was the first character of a mark.
    const acted = hasEscape && /^\[20[01]~/.test(input) ? '\u001b' : '';
    const all = acted + rest + input;
    const isContinued = all !== input;
    rest = cutMark.exec(all)?.[0] ?? '';
    const parts = all.slice(0, all.length - rest.length).match(oneKey) ?? [];
    // What a terminal sends of a paste in one go practically never begins with such a key.
    if (isPaste && !isContinued && isKeySequence(parts[0] ?? rest)) isPaste = false;
    return parts;
  };

  const keep = (pasted: string): UserInput[] => {
    const kept = [...lineOf(pasted)].slice(0, room);
    room -= kept.length;
    return kept.length === 0 ? [] : [{ pasted: kept.join('') }];
  };

  return (input) => {
    if (input === '') return [];
    const read: UserInput[] = [];
    let pasted = '';
    for (const part of split(input)) {
      if (part === endOfPaste) {
        read.push(...keep(pasted));
        pasted = '';
        isPaste = false;
      } else if (part === startOfPaste) {
        if (!isPaste) room = maxPasted;
        isPaste = true;
      } else if (isPaste) pasted += part.length > 1 && part.startsWith('\u001b') ? '' : part;
      else read.push(...keyOf(part));
    }
    read.push(...keep(pasted));
    // Outside a paste Escape acts at once: it may be all that was pressed.
    hasEscape = !isPaste && rest === '\u001b';
    if (hasEscape) {
      read.push(...keyOf(rest));
      rest = '';
    }
    return read;
  };
}

function isKeySequence(part: string): boolean {
  return part.startsWith('\u001b') && Object.hasOwn(sequences, part);
}

function keyOf(part: string): UserInput[] {
  const key = sequences[part];
  if (key !== undefined) return [{ key }];
  return /^[\u0000-\u001f\u007f-\u009f]/.test(part) ? [] : [{ key: part }];
}

/** A pasted text as one line: it is typed into one. */
function lineOf(text: string): string {
  return text.replace(/\r\n|[\r\n\t]/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f]/g, '');
}

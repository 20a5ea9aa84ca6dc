import type { TerminalDevice } from '../kernel/terminal-device.ts';

/** Control sequences (ECMA-48, and the private modes that every terminal of today knows). */
const sequences = {
  alternateScreen: '\u001b[?1049h',
  normalScreen: '\u001b[?1049l',
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** What is too long for its line is cut rather than put on the next. */
  cutLines: '\u001b[?7l',
  wrapLines: '\u001b[?7h',
  clear: '\u001b[2J\u001b[H',
  plainText: '\u001b[0m',
  endOfUpdate: '\u001b[?2026l',
} as const;

/** A terminal that is either ours, as a whole screen, or as it was before. */
export interface Terminal {
  readonly isOurs: boolean;
  /** Takes the whole screen, cursor and echo away. */
  enter(): void;
  /** Gives back what `enter` took. May be called at any moment, any number of times. */
  leave(): void;
}

export function createTerminal(device: TerminalDevice): Terminal {
  let isOurs = false;
  return {
    get isOurs() {
      return isOurs;
    },
    enter() {
      if (isOurs) return;
      isOurs = true;
      device.setRaw(true);
      const { alternateScreen, hideCursor, cutLines, clear } = sequences;
      device.writeNow(alternateScreen + hideCursor + cutLines + clear);
    },
    leave() {
      if (!isOurs) return;
      isOurs = false;
      const { endOfUpdate, plainText, wrapLines, showCursor, normalScreen } = sequences;
      device.writeNow(endOfUpdate + plainText + wrapLines + showCursor + normalScreen);
      device.setRaw(false);
    },
  };
}

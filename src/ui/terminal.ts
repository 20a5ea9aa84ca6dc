import type { TerminalDevice } from '../kernel/terminal-device.ts';

/** Control sequences (ECMA-48, and the private modes of every current terminal). */
const sequences = {
  alternateScreen: '\u001b[?1049h',
  normalScreen: '\u001b[?1049l',
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** Text that is too long is cut and does not wrap. */
  cutLines: '\u001b[?7l',
  wrapLines: '\u001b[?7h',
  clear: '\u001b[2J\u001b[H',
  plainText: '\u001b[0m',
  endOfUpdate: '\u001b[?2026l',
} as const;

/** A terminal that is either a full screen of ours, or restored. */
export interface Terminal {
  readonly isOurs: boolean;
  /** Enters the full screen, and hides cursor and echo. */
  enter(): void;
  /** Undoes `enter`. May be called at any moment, any number of times. */
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

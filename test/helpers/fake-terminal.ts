import type { TerminalDevice, TerminalHandlers } from '../../src/kernel/terminal-device.ts';

/** A terminal that remembers what happened to it. */
export function createFakeTerminal() {
  let handlers: TerminalHandlers | undefined;
  const state = { raw: false, written: '', signals: [] as string[], failing: false };
  const device: TerminalDevice = {
    columns: 80,
    rows: 24,
    setRaw(raw) {
      state.raw = raw;
    },
    async write(text) {
      if (state.failing) throw new Error('EIO');
      state.written += text;
    },
    writeNow(text) {
      state.written += text;
    },
    listen(given) {
      handlers = given;
      return () => {
        handlers = undefined;
      };
    },
    raise: (signal) => void state.signals.push(signal),
    suspend: ({ group }) => void state.signals.push(group ? 'SIGTSTP to the job' : 'SIGTSTP'),
  };
  return {
    device,
    state,
    get handlers() {
      if (handlers === undefined) throw new Error('nobody listens');
      return handlers;
    },
    get isHeard() {
      return handlers !== undefined;
    },
    /** Whether it was given back: the cursor shown, the normal screen, lines wrapped, keys with echo, pastes unmarked. */
    get isRestored() {
      const last = (on: string, off: string) =>
        state.written.lastIndexOf(on) > state.written.lastIndexOf(off);
      const screen = last('\u001b[?1049l', '\u001b[?1049h') && last('\u001b[?25h', '\u001b[?25l');
      const pastes = last('\u001b[?2004l', '\u001b[?2004h');
      return screen && pastes && last('\u001b[?7h', '\u001b[?7l') && !state.raw;
    },
  };
}

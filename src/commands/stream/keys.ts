import type { MuteSwitch } from '../../devices/microphone.ts';
import type { Io } from '../../kernel/io.ts';

const interrupt = '\u0003';

export interface Keys {
  microphone: MuteSwitch;
  /** Called when the microphone was muted or is on again. */
  onMute: (muted: boolean) => void;
}

/**
 * Keys in a terminal, as far as there is one: `m` mutes the microphone, Ctrl-C ends. Returns what gives the terminal
 * back; Node does that too where the process ends on another way.
 */
export function listenForKeys({ stdin }: Pick<Io, 'stdin'>, { microphone, onMute }: Keys): () => void {
  const terminal = stdin as Io['stdin'] & { setRawMode?(on: boolean): void };
  if (!terminal.isTTY || terminal.setRawMode === undefined) return () => {};
  const onKeys = (bytes: Buffer) => {
    for (const key of bytes.toString()) {
      // In raw mode the terminal does not make a signal of it.
      if (key === interrupt) process.kill(process.pid, 'SIGINT');
      if (key !== 'm') continue;
      microphone.mute(!microphone.muted);
      onMute(microphone.muted);
    }
  };
  terminal.setRawMode(true);
  terminal.on('data', onKeys);
  return () => {
    terminal.off('data', onKeys);
    terminal.setRawMode?.(false);
  };
}

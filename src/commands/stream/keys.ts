import type { MuteSwitch } from '../../devices/microphone.ts';
import type { Io } from '../../kernel/io.ts';

const interrupt = '\u0003';

export interface Keys {
  microphone: MuteSwitch;
  /** Called when the microphone is muted or unmuted. */
  onMute: (muted: boolean) => void;
}

/**
 * Handles keys, if there is a terminal: `m` mutes the microphone, Ctrl-C ends. Returns a function that restores the
 * terminal; Node also restores it if the process ends in another way.
 */
export function listenForKeys({ stdin }: Pick<Io, 'stdin'>, { microphone, onMute }: Keys): () => void {
  const terminal = stdin as Io['stdin'] & { setRawMode?(on: boolean): void };
  if (!terminal.isTTY || terminal.setRawMode === undefined) return () => {};
  const onKeys = (bytes: Buffer) => {
    for (const key of bytes.toString()) {
      // In raw mode the terminal sends no signal for it.
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

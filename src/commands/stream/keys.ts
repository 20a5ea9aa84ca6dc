import type { MuteSwitch } from '../../devices/microphone.ts';
import { type Keyboard, passKeys } from '../../kernel/keyboard.ts';

export interface Keys {
  microphone: MuteSwitch;
  /** Called when the microphone is muted or unmuted. */
  onMute: (muted: boolean) => void;
}

/** Handles keys without a screen: `m` mutes the microphone. Returns a function that restores the terminal. */
export function listenForKeys(keyboard: Keyboard, { microphone, onMute }: Keys): () => void {
  const leave = () => keyboard.setRaw(false);
  const suspend = (group: boolean) => {
    leave();
    keyboard.suspend({ group });
    keyboard.setRaw(true);
  };
  const onKeys = (keys: string) => {
    for (const key of keys) {
      if (key !== 'm') continue;
      microphone.mute(!microphone.muted);
      onMute(microphone.muted);
    }
  };
  const stop = keyboard.listen({
    onInput: (text) => passKeys(text, { keyboard, suspend: () => suspend(true), onKeys }),
    // The system sends SIGHUP as well, which ends the session.
    onGone() {},
    onSuspend: () => suspend(false),
    onExit: leave,
  });
  keyboard.setRaw(true);
  return () => {
    stop();
    leave();
  };
}

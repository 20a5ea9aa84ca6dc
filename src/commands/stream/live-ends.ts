import type { NamedSource } from '../../audio/source.ts';
import { createWavFile } from '../../audio/wav/wav-file.ts';
import type { MuteSwitch } from '../../devices/microphone.ts';
import { createNotices, type Notices } from '../../devices/notices.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { type Keyboard, passKeys } from '../../kernel/keyboard.ts';
import type { AudioSink } from '../../session/output.ts';
import type { ContextOf } from '../command.ts';
import { openDevices } from '../sound-devices/open-devices.ts';
import { isPlayed } from './sound-flags.ts';

export interface LiveEnds {
  /** Undefined if the source is a file. */
  microphone: (NamedSource & { switch: MuteSwitch }) | undefined;
  /** The loudspeaker, if there is one. */
  sinks: AudioSink[];
  notices: Notices;
  /** Lets keys of the terminal control the microphone. */
  listenForKeys(): void;
  /** Begins the recording of the microphone, if a flag asks for one. Throws `input-output`. */
  record(): Promise<void>;
  /** Closes both devices, even if no session began. */
  close(): Promise<void>;
}

/** Opens the devices that the flags of `stream` ask for. Throws `audio-device`. */
export async function openLiveEnds(context: ContextOf<'stream'>): Promise<LiveEnds> {
  const { settings } = context;
  const notices = createNotices();
  const { microphone, playback } = await openDevices(context, {
    microphone: settings.mic === true,
    playback: isPlayed(context),
    notices,
  });
  if (microphone !== undefined && playback !== undefined && !settings.aec) {
    notices.emit({
      code: 'headphones',
      message: 'Use headphones; otherwise the AI hears itself',
    });
  }
  let release = () => {};
  return {
    microphone: microphone && {
      source: microphone,
      name: `microphone (${microphone.backend})`,
      switch: microphone,
    },
    sinks: playback === undefined ? [] : [playback],
    notices,
    listenForKeys() {
      const { keyboard } = context.io;
      if (microphone === undefined || keyboard === undefined) return;
      release = listenForKeys(keyboard, {
        microphone,
        onMute: (muted) =>
          void context.note(muted ? 'microphone muted (m: unmute)' : 'microphone on (m: mute)'),
      });
    },
    async record() {
      if (microphone === undefined || settings.recordMic === undefined) return;
      microphone.record(await createWavFile(settings.recordMic, context.io));
    },
    async close() {
      release();
      try {
        await microphone?.close();
      } finally {
        await playback?.close(new VoicectlError('interrupted', 'The session is over'));
      }
    },
  };
}

interface Keys {
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

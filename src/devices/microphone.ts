import { measureLevel } from '../audio/level.ts';
import { type AudioSource, describeFormat, wireFormat } from '../audio/source.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import type { Capture } from './capture.ts';
import type { Notices } from './notices.ts';
import { createRecovery, type RecoveryOptions } from './process/recovery.ts';

/** Mutes a microphone while it is in use. */
export interface MuteSwitch {
  mute(on: boolean): void;
  readonly muted: boolean;
}

/** A microphone as a source that never ends by itself. When muted, it delivers silence in real time. */
export interface Microphone extends AudioSource, MuteSwitch {
  /** The name of the backend. */
  readonly backend: string;
  /** Records from now on what is sent. The recorder is closed with the device. */
  record(to: Recorder): void;
  /** Closes the device, even if nobody has read from it. */
  close(): Promise<void>;
}

export interface MicrophoneOptions extends Omit<RecoveryOptions<Capture>, 'what'> {
  /** Takes captured audio and returns what to send, for example without the echo of the loudspeaker. */
  onHeard?: ((pcm: Buffer) => Buffer) | undefined;
  /** Takes what is sent: silence while it is muted. */
  onDelivered?: ((pcm: Buffer) => void) | undefined;
}

interface Recorder {
  write(pcm: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Zeros for this long cannot be a quiet room. */
const silentMs = 3_000;

/**
 * Opens a microphone. Throws `audio-device`, here or from `read` when the device is lost, and `input-output` if the
 * recording cannot be written.
 */
export async function openMicrophone(options: MicrophoneOptions): Promise<Microphone> {
  const { open, notices, onHeard, onDelivered, signal } = options;
  let capture = await open(signal);
  let recorder: Recorder | undefined;
  let muted = false;
  let closing: Promise<void> | undefined;
  const watchSilence = createSilenceWatch(notices);
  const backend = capture.backend;

  const ending = new AbortController();
  const letGo = async () => {
    ending.abort(new VoicectlError('interrupted', 'The microphone was closed'));
    try {
      await capture.stop();
    } finally {
      await recorder?.close();
    }
  };
  const close = () => {
    closing ??= letGo();
    return closing;
  };
  const recover = createRecovery({
    ...options,
    what: 'microphone',
    signal: AbortSignal.any([signal, ending.signal]),
  });
  const readDevice = async function* () {
    for (;;) {
      try {
        yield* capture.read();
      } catch (thrown) {
        if (!(thrown instanceof VoicectlError) || thrown.code !== 'audio-device') throw thrown;
        if (closing !== undefined) throw thrown;
        capture = await recover(capture, thrown);
      }
    }
  };

  return {
    backend,
    description: describeFormat(wireFormat),
    durationMs: undefined,
    isLive: true,
    repeatable: false,
    get muted() {
      return muted;
    },
    mute(on) {
      muted = on;
    },
    record(to) {
      recorder = to;
    },
    close,
    async *read(readSignal) {
      // Audio that was captured while the session started would delay everything after it.
      capture.clear();
      const stop = () => void close();
      readSignal?.addEventListener('abort', stop, { once: true });
      try {
        readSignal?.throwIfAborted();
        for await (const heard of readDevice()) {
          if (!muted) watchSilence(heard);
          const pcm = onHeard?.(heard) ?? heard;
          if (muted) pcm.fill(0);
          onDelivered?.(pcm);
          await recorder?.write(pcm);
          yield pcm;
        }
      } catch (thrown) {
        throw readSignal?.aborted ? readSignal.reason : thrown;
      } finally {
        readSignal?.removeEventListener('abort', stop);
        await close();
      }
    },
  };
}

/** Reports once that a microphone delivers only zeros: that is how macOS denies access. */
function createSilenceWatch({ emit }: Notices): (pcm: Buffer) => void {
  let zeroMs = 0;
  let isReported = false;
  return (pcm) => {
    if (isReported) return;
    zeroMs = measureLevel(pcm).peakDbfs > -100 ? 0 : zeroMs + msForBytes(pcm.length);
    if (zeroMs < silentMs) return;
    isReported = true;
    emit({
      code: 'microphone-silent',
      message: `The microphone has delivered only digital silence for ${silentMs / 1000} s`,
      hint: 'It may be muted, or the terminal may lack permission to use it.',
    });
  };
}

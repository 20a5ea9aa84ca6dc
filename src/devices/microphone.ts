import { measureLevel } from '../audio/level.ts';
import type { AudioSource } from '../audio/source.ts';
import { describeFormat, wireFormat } from '../audio/source-format.ts';
import type { Clock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import type { Capture } from './capture.ts';
import type { Notices } from './notices.ts';
import { createRecovery } from './process/recovery.ts';

/** What can be done to a microphone while it is in use, by a key or a screen. */
export interface MuteSwitch {
  mute(on: boolean): void;
  readonly muted: boolean;
}

/** A microphone as a source that never ends by itself; muted, it gives silence in time. */
export interface Microphone extends AudioSource, MuteSwitch {
  /** The backend by which it was reached. */
  readonly backend: string;
  /** Lets the device go, also where nobody has read from it. */
  close(): Promise<void>;
}

export interface MicrophoneOptions {
  /** The signal ends the opening. */
  open: (signal: AbortSignal) => Promise<Capture>;
  clock: Clock;
  notices: Notices;
  /** A device that is lost may come back within this time; 0: the session ends. */
  deviceTimeoutMs: number;
  /** Takes what was heard, and returns what is sent of it: without the echo of the loudspeaker, for example. */
  onHeard?: ((pcm: Buffer) => Buffer) | undefined;
  /** Takes what is sent, where the user wants a recording. */
  recorder?: { write(pcm: Buffer): Promise<void>; close(): Promise<void> } | undefined;
  /** Ends the wait for a device that is lost. */
  signal: AbortSignal;
}

/** So long without a single bit, and it is no quiet room. */
const silentMs = 3_000;

/**
 * Opens a microphone. Errors: `audio-device`, at the beginning or from `read` when it is lost; `input-output` when the
 * recording cannot be written.
 */
export async function openMicrophone(options: MicrophoneOptions): Promise<Microphone> {
  const { open, notices, onHeard, recorder, signal } = options;
  let capture = await open(signal);
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
    repeatable: false,
    get muted() {
      return muted;
    },
    mute(on) {
      muted = on;
    },
    close,
    async *read(readSignal) {
      // What was heard while the session began would be late for ever.
      capture.clear();
      const stop = () => void close();
      readSignal?.addEventListener('abort', stop, { once: true });
      try {
        readSignal?.throwIfAborted();
        for await (const heard of readDevice()) {
          if (!muted) watchSilence(heard);
          const pcm = onHeard?.(heard) ?? heard;
          if (muted) pcm.fill(0);
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

/** Tells once of a microphone that gives nothing but zeros: that is how macOS denies one. */
function createSilenceWatch({ tell }: Notices): (pcm: Buffer) => void {
  let zeroMs = 0;
  let isTold = false;
  return (pcm) => {
    if (isTold) return;
    zeroMs = measureLevel(pcm).peakDbfs > -100 ? 0 : zeroMs + msForBytes(pcm.length);
    if (zeroMs < silentMs) return;
    isTold = true;
    tell({
      code: 'microphone-silent',
      message: `The microphone has given nothing but digital silence for ${silentMs / 1000} s`,
      hint: 'It may be muted, or the terminal may not use it.',
    });
  };
}

import type { Readable } from 'node:stream';
import { createBlockJoiner } from '../audio/blocks.ts';
import { createMonoDecoder } from '../audio/decode.ts';
import { encodeS16le } from '../audio/encode.ts';
import { createResampler } from '../audio/resample.ts';
import { wireFormat } from '../audio/source.ts';
import type { Clock } from '../kernel/clock.ts';
import type { FailureDetails, VoicectlError } from '../kernel/errors.ts';
import { bytesForMs, channels, msForBytes, sampleRate } from '../protocol/audio-format.ts';
import type { Backend } from './backend.ts';
import { deviceError } from './device-error.ts';
import { readHostMessages } from './host/host-protocol.ts';
import type { NativeFormat } from './host/native-devices.ts';
import { type DeviceOptions, openProcess, whileOpening } from './process/open-process.ts';
import { createWatchdog } from './process/watchdog.ts';

/** An open microphone. */
export interface Capture {
  readonly backend: string;
  /** 16 kHz s16le mono in chunks of any number of whole samples. Throws `audio-device` when the device is lost. */
  read(): AsyncGenerator<Buffer>;
  /** Drops captured audio that has not been read yet. */
  clear(): void;
  stop(): Promise<void>;
}

export interface CaptureOptions extends DeviceOptions {
  /** Called at most once a second if audio was dropped, after the first `read`, because it was not read in time. */
  onOverrun: (lostMs: number) => void;
}

/**
 * Time for each step to the first audio: the process starts, it opens the device, audio arrives. An idle sound server took
 * 1.8 s, and a busy machine takes several times as long as another for each step.
 */
const firstAudioMs = 3_000;
const silenceMs = 1_000;
/** Maximum audio that waits to be read. Beyond it the oldest is dropped. */
const maxWaitingBytes = bytesForMs(2_000);
const hostFrameMs = 20;

/** Opens a microphone and resolves when its first audio arrives. Throws `audio-device` with the reason as message. */
export async function openCapture(backend: Backend, options: CaptureOptions): Promise<Capture> {
  const { clock, onOverrun } = options;
  const child = await openProcess(backend, 'capture', options);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let lost: VoicectlError | undefined;
  let hasBegun = false;
  /** Before the first read nobody needs the audio, so a loss is not reported. */
  let isRead = false;
  let wake = () => {};
  const losses = createLossReport(clock, onOverrun);
  const drop = (ms: number) => {
    if (isRead) losses.add(ms);
  };
  const lose = (why: string, details: FailureDetails = {}) => {
    lost ??= deviceError(why, { details });
    losses.end();
    watchdog.stop();
    wake();
  };
  const watchdog = createWatchdog(clock, () => lose('it delivered no audio', { stalled: true }));
  watchdog.expect(firstAudioMs);
  let convert = createConverter({ sampleRate, channels: captureChannels(backend) });
  if (child.control !== undefined) {
    readHostMessages(child.control, (message) => {
      if (message.type === 'ready') convert = createConverter(message);
      if (message.type === 'started' || message.type === 'ready') watchdog.expect(firstAudioMs);
      if (message.type === 'overrun') drop(message.frames * hostFrameMs);
      // Libraries also close a stream that was merely held up.
      if (message.type === 'failed') lose(message.message, { stalled: hasBegun });
    });
  }
  (child.pcm as Readable).on('data', (bytes: Buffer) => {
    watchdog.expect(silenceMs);
    hasBegun = true;
    const pcm = convert(bytes);
    if (pcm.length === 0) return;
    waiting.push(pcm);
    waitingBytes += pcm.length;
    if (waitingBytes > maxWaitingBytes) {
      const newest = Buffer.concat(waiting).subarray(-maxWaitingBytes);
      drop(msForBytes(waitingBytes - newest.length));
      waiting = [newest];
      waitingBytes = newest.length;
    }
    wake();
  });
  void child.ended.then((why) => lose(why));
  const more = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });

  const capture: Capture = {
    backend: backend.name,
    async *read() {
      isRead = true;
      for (;;) {
        const chunks = waiting;
        waiting = [];
        waitingBytes = 0;
        yield* chunks;
        if (waiting.length > 0) continue;
        if (lost !== undefined) throw lost;
        await more();
      }
    },
    clear() {
      waiting = [];
      waitingBytes = 0;
    },
    stop() {
      lose('it was closed');
      return child.stop();
    },
  };
  return whileOpening(child, options.signal, async () => {
    while (waitingBytes === 0 && lost === undefined) await more();
    if (waitingBytes === 0 && lost !== undefined) throw lost;
    return capture;
  });
}

function captureChannels(backend: Backend): number {
  return (backend.kind === 'program' ? backend.captureChannels : undefined) ?? channels;
}

/** Converts the audio of a device to 16 kHz s16le mono. */
function createConverter(format: NativeFormat): (bytes: Buffer) => Buffer {
  const isOurs = format.sampleRate === sampleRate && format.channels === channels;
  if (isOurs) return createBlockJoiner().push;
  const decode = createMonoDecoder({ ...wireFormat, ...format });
  const resampler = createResampler(format.sampleRate, sampleRate);
  return (bytes) => encodeS16le(resampler.push(decode(bytes)));
}

/** Adds up small losses, so that they are not reported one by one. */
interface LossReport {
  add(ms: number): void;
  /** Reports what has not been reported yet. */
  end(): void;
}

const reportEveryMs = 1_000;

/** Reports the first loss at once, and later ones at most once a second. */
export function createLossReport(clock: Clock, report: (lostMs: number) => void): LossReport {
  let lostMs = 0;
  let pause: { cancel(): void } | undefined;
  const reportAll = () => {
    pause = undefined;
    if (lostMs === 0) return;
    const sum = lostMs;
    lostMs = 0;
    pause = clock.after(reportEveryMs, reportAll, { background: true });
    report(sum);
  };
  return {
    add(ms) {
      lostMs += ms;
      if (pause === undefined) reportAll();
    },
    end() {
      pause?.cancel();
      reportAll();
      pause?.cancel();
    },
  };
}

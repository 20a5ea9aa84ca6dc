import { abortable } from '../kernel/abortable.ts';
import { toVoicectlError, type VoicectlError } from '../kernel/errors.ts';
import type { QueueHandlers } from './backpressure.ts';
import { type PlaybackFigures, roundMs } from './metrics.ts';

/** Where AI audio is put. A write that is slow makes the session read more slowly from the network. */
export interface AudioSink {
  write(pcm: Buffer): Promise<void>;
  /** Finishes what was written; what plays it may leave out the rest where the session has failed. */
  close(failure?: VoicectlError): Promise<void>;
  /** Throws away what waits to be heard. A file has nothing of that kind. */
  flush?(): void;
  /** The same, and it leaves out what still comes of the running reply. */
  hold?(): void;
  /** Resolves when the sink has failed, also while nothing is written. */
  readonly failed?: Promise<VoicectlError>;
  /** How often what plays it had nothing to play in the middle of a reply. */
  readonly underruns?: number;
  /** How long audio takes from its arrival to the ear, about. */
  readonly delayMs?: number | undefined;
}

/** AI audio that may wait for the sinks before reading from the network is paused. */
const maxWaitingBytes = 4 * 1024 * 1024;

export interface Output {
  write(pcm: Buffer): void;
  /** Throws away what waits to be heard: the service was interrupted. */
  flush(): void;
  /** The same, and leaves out what still comes of the running reply: the user begins to speak. */
  hold(): void;
  readonly playback: PlaybackFigures;
  /**
   * Waits until the sinks have taken what was written, or until the signal says that nobody wants that any more, and
   * finishes them. The result is the first failure of any. `reason` is what the session has failed with.
   */
  close(signal: AbortSignal, reason?: VoicectlError): Promise<VoicectlError | undefined>;
}

export interface OutputHandlers extends QueueHandlers {
  /** Called at the first failure of a sink; nothing is written after it. */
  onFailure: (failure: VoicectlError) => void;
}

/** Hands AI audio to the sinks, in order. */
export function createOutput(sinks: readonly AudioSink[], handlers: OutputHandlers): Output {
  let waitingBytes = 0;
  let written: Promise<void> = Promise.resolve();
  let failure: VoicectlError | undefined;
  const fail = (thrown: unknown) => {
    if (failure !== undefined) return;
    failure = toVoicectlError(thrown);
    handlers.onFailure(failure);
  };
  for (const sink of sinks) void sink.failed?.then(fail);
  return {
    flush() {
      for (const sink of sinks) sink.flush?.();
    },
    hold() {
      for (const sink of sinks) sink.hold?.();
    },
    get playback() {
      const counts = sinks.flatMap(({ underruns }) => underruns ?? []);
      const delays = sinks.flatMap(({ delayMs }) => delayMs ?? []);
      return {
        underruns: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count),
        playbackDelayMs: delays.length === 0 ? null : roundMs(Math.max(...delays)),
      };
    },
    write(pcm) {
      if (sinks.length === 0 || failure !== undefined) return;
      waitingBytes += pcm.length;
      if (waitingBytes > maxWaitingBytes) handlers.onFull();
      const taken = Promise.all(sinks.map((sink) => sink.write(pcm))).then(() => {
        const wasFull = waitingBytes > maxWaitingBytes;
        waitingBytes -= pcm.length;
        if (wasFull && waitingBytes <= maxWaitingBytes) handlers.onDrained();
      }, fail);
      written = written.then(() => taken);
    },
    async close(signal, reason) {
      await abortable(written, signal).catch(() => {});
      for (const sink of sinks) await sink.close(reason ?? failure).catch(fail);
      return failure;
    },
  };
}

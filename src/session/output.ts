import { toVoicectlError, type VoicectlError } from '../errors.ts';
import { abortable } from './abortable.ts';
import type { QueueHandlers } from './backpressure.ts';

/** Where AI audio is put. A write that is slow makes the session read more slowly from the network. */
export interface AudioSink {
  write(pcm: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** AI audio that may wait for the sinks before reading from the network is paused. */
const maxWaitingBytes = 4 * 1024 * 1024;

export interface Output {
  write(pcm: Buffer): void;
  /**
   * Waits until the sinks have taken what was written, or until the signal says that nobody wants that any more, and
   * finishes them. The result is the first failure of any.
   */
  close(signal: AbortSignal): Promise<VoicectlError | undefined>;
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
  return {
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
    async close(signal) {
      await abortable(written, signal).catch(() => {});
      for (const sink of sinks) await sink.close().catch(fail);
      return failure;
    },
  };
}

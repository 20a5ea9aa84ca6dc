import type { Clock } from '../kernel/clock.ts';
import { toVoicectlError, type VoicectlError } from '../kernel/errors.ts';
import { abortable } from '../kernel/promises.ts';
import { queueCostBytes } from '../kernel/queue-cost.ts';
import { roundMs } from '../protocol/time-text.ts';
import type { VoiceStream } from '../wire/client/voice-stream.ts';
import type { PlaybackFigures } from './metrics.ts';

/** Called when a queue becomes full, and when it has room again. */
export interface QueueHandlers {
  onFull: () => void;
  onDrained: () => void;
}

/** Pauses reading from the network while any queue behind it is full. */
export interface Backpressure {
  queue(): QueueHandlers;
  /** Sets the stream that is paused, once it exists. */
  attach(stream: Pick<VoiceStream, 'pause' | 'resume'>): void;
  /** When reading was last paused: now, if it is. What the service sent before may not have been read yet. */
  readonly pausedUntil: number;
  /** How long reading was paused in all, so far. */
  readonly pausedMs: number;
}

export function createBackpressure(clock: Pick<Clock, 'now'>): Backpressure {
  let stream: Pick<VoiceStream, 'pause' | 'resume'> | undefined;
  const full = new Set<QueueHandlers>();
  let pausedAt = 0;
  let resumedAt = Number.NEGATIVE_INFINITY;
  let pausedMs = 0;
  return {
    get pausedUntil() {
      return full.size > 0 ? clock.now() : resumedAt;
    },
    get pausedMs() {
      return full.size > 0 ? pausedMs + clock.now() - pausedAt : pausedMs;
    },
    queue() {
      const handlers: QueueHandlers = {
        onFull() {
          if (full.size === 0) pausedAt = clock.now();
          full.add(handlers);
          stream?.pause();
        },
        onDrained() {
          if (!full.delete(handlers) || full.size > 0) return;
          resumedAt = clock.now();
          pausedMs += resumedAt - pausedAt;
          stream?.resume();
        },
      };
      return handlers;
    },
    attach(opened) {
      stream = opened;
      if (full.size > 0) opened.pause();
    },
  };
}

/** Takes AI audio. A slow write makes the session read more slowly from the network. */
export interface AudioSink {
  write(pcm: Buffer): Promise<void>;
  /** Finishes the audio that was written. If the session failed, a player may drop the rest. */
  close(failure?: VoicectlError): Promise<void>;
  /** Drops audio that has not been heard yet. A file does not need this. */
  flush?(): void;
  /** The same, and also drops the rest of a reply that is heard. */
  hold?(): void;
  /** Resolves when the sink fails, even if nothing is being written. */
  readonly failed?: Promise<VoicectlError>;
  /** How often playback ran out of audio in the middle of a reply. */
  readonly underruns?: number;
  /** Estimated time from the arrival of audio until it is heard. */
  readonly delayMs?: number | undefined;
}

/** Maximum AI audio that waits for the sinks. Beyond it reading from the network pauses. */
const maxWaitingBytes = 4 * 1024 * 1024;

export interface Output {
  write(pcm: Buffer): void;
  /** Drops audio that has not been heard yet: the service was interrupted. */
  flush(): void;
  /** The same, and also drops the rest of a reply that is heard: the user begins to speak. */
  hold(): void;
  readonly playback: PlaybackFigures;
  /**
   * Waits until the sinks have taken all audio, or until the signal aborts the wait, and finishes them. Returns the first
   * failure of any sink. `reason`: the error of a failed session.
   */
  close(signal: AbortSignal, reason?: VoicectlError): Promise<VoicectlError | undefined>;
}

export interface OutputHandlers extends QueueHandlers {
  /** Called at the first failure of a sink; nothing is written after it. */
  onFailure: (failure: VoicectlError) => void;
}

/** Passes AI audio to the sinks, in order. */
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
      const weight = queueCostBytes(pcm.length);
      waitingBytes += weight;
      if (waitingBytes > maxWaitingBytes) handlers.onFull();
      const taken = Promise.all(sinks.map((sink) => sink.write(pcm))).then(() => {
        const wasFull = waitingBytes > maxWaitingBytes;
        waitingBytes -= weight;
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

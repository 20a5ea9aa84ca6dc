import type { VoicectlError } from '../kernel/errors.ts';
import { createDeferred } from '../kernel/promises.ts';

/** Maximum data that waits for the disk. Beyond it the session has to wait. */
const maxWaitingBytes = 4 * 1024 * 1024;

/** Data that waits for a disk and is written in batches. */
export interface DiskQueue {
  /** More bytes wait for the next `write`. */
  added(bytes: number): void;
  readonly waitingBytes: number;
  /** Resolves when little data waits. Throws if a write fails. */
  taken(): Promise<void>;
  /** Resolves when everything so far is written. Throws if a write fails. */
  settled(): Promise<void>;
  /** Resolves when a write fails, with the failure. */
  readonly failed: Promise<VoicectlError>;
  /** Whether a write has failed: nothing more is written. */
  readonly hasFailed: boolean;
}

/** `write` writes everything that waits, and is called again only when it has finished. */
export function createDiskQueue(
  write: () => Promise<void>,
  toFailure: (thrown: unknown) => VoicectlError,
): DiskQueue {
  let waitingBytes = 0;
  let writingBytes = 0;
  let failure: VoicectlError | undefined;
  let writing: Promise<void> | undefined;
  const failed = createDeferred<VoicectlError>();
  const writeAll = async () => {
    while (waitingBytes > 0 && failure === undefined) {
      writingBytes = waitingBytes;
      waitingBytes = 0;
      await write().catch((thrown) => {
        failure = toFailure(thrown);
        failed.resolve(failure);
      });
      writingBytes = 0;
    }
    writing = undefined;
  };
  const waitWhile = async (isBusy: () => boolean) => {
    while (failure === undefined && isBusy()) await writing;
    if (failure !== undefined) throw failure;
  };
  return {
    failed: failed.promise,
    get hasFailed() {
      return failure !== undefined;
    },
    added(bytes) {
      waitingBytes += bytes;
      if (failure === undefined) writing ??= Promise.resolve().then(writeAll);
    },
    get waitingBytes() {
      return waitingBytes + writingBytes;
    },
    taken: () => waitWhile(() => waitingBytes + writingBytes > maxWaitingBytes),
    settled: () => waitWhile(() => writing !== undefined),
  };
}

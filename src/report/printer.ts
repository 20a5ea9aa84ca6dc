import type { OutputStream } from '../kernel/output-stream.ts';
import { createDeferred } from '../kernel/promises.ts';
import { countText } from '../protocol/count-text.ts';

/** Maximum data that waits for a slow reader of the output; beyond it lines are dropped and counted. */
const maxWaitingBytes = 8 * 1024 * 1024;

/** Prints lines for callbacks that cannot wait. */
export interface Printer {
  print(text: string): void;
  /** Resolves with the error when a write has failed. */
  readonly failed: Promise<unknown>;
  /** Resolves when all is written. Throws the first failure. */
  flush(): Promise<void>;
}

/** `describeLoss` makes the line that replaces dropped lines. */
export function createPrinter(
  stream: Pick<OutputStream, 'write'>,
  describeLoss: (lines: number) => string,
): Printer {
  let waitingBytes = 0;
  let leftOut = 0;
  let last: Promise<void> = Promise.resolve();
  let failure: { thrown: unknown } | undefined;
  const failed = createDeferred<unknown>();
  const writeLoss = () => {
    if (leftOut > 0) write(describeLoss(leftOut));
    leftOut = 0;
  };
  const write = (text: string) => {
    waitingBytes += text.length;
    last = stream.write(text).then(
      () => {
        waitingBytes -= text.length;
      },
      (thrown) => {
        failure ??= { thrown };
        failed.resolve(thrown);
      },
    );
  };
  return {
    failed: failed.promise,
    print(text) {
      if (failure !== undefined) return;
      if (waitingBytes > maxWaitingBytes) {
        leftOut += 1;
        return;
      }
      writeLoss();
      write(text);
    },
    async flush() {
      writeLoss();
      await last;
      if (failure !== undefined) throw failure.thrown;
    },
  };
}

/** The same for standard error: `write` writes a line of text there. */
export function createNotePrinter(write: (line: string) => Promise<void>): Printer {
  return createPrinter({ write: (line) => write(String(line)) }, (count) =>
    lossText(count, 'standard error'),
  );
}

/** What replaces lines that were dropped. */
export function lossText(lines: number, output: 'standard output' | 'standard error'): string {
  return `(dropped ${countText(lines, 'line')}: ${output} is read too slowly)`;
}

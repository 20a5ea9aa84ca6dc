import type { Readable } from 'node:stream';

/** How much of each end is kept: a chunk is at most 64 KiB. */
const keptChunks = 2;
const keptLines = 20;

/** Keeps the last of what a command prints, however much that is. */
export function createLastOutput(...streams: readonly Readable[]) {
  const kept: Buffer[] = [];
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      kept.push(chunk);
      if (kept.length > keptChunks) kept.shift();
    });
    // A process that was killed resets its pipes.
    stream.on('error', () => {});
  }
  return {
    /** The last lines, without their ends. */
    lines: (): string[] =>
      Buffer.concat(kept)
        .toString()
        .split(/\r?\n/)
        .filter((line) => line.trim() !== '')
        .slice(-keptLines),
    close() {
      for (const stream of streams) stream.destroy();
    },
  };
}

/**
 * Splits chunks of any size into frames of exactly `frameBytes`. The last frame is padded with silence. A frame within one
 * chunk is a view of it, not a copy. An empty input gives no frames.
 */
export async function* reframe(chunks: AsyncIterable<Buffer>, frameBytes: number): AsyncGenerator<Buffer> {
  if (!Number.isInteger(frameBytes) || frameBytes < 1)
    throw new RangeError(`no frames of ${frameBytes} bytes`);
  let partial: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    let offset = 0;
    if (partial) {
      offset = chunk.copy(partial, filled);
      filled += offset;
      if (filled < frameBytes) continue;
      yield partial;
      partial = undefined;
    }
    for (; chunk.length - offset >= frameBytes; offset += frameBytes) {
      yield chunk.subarray(offset, offset + frameBytes);
    }
    if (offset < chunk.length) {
      partial = Buffer.alloc(frameBytes);
      filled = chunk.copy(partial, 0, offset);
    }
  }
  if (partial) yield partial;
}

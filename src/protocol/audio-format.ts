/**
 * The audio of both directions. Specification: "Audio format (both directions)".
 * Raw PCM, signed 16-bit little-endian, 16,000 Hz, mono.
 */
export const sampleRate = 16_000;
export const bytesPerSample = 2;
export const channels = 1;
export const bytesPerMs = (sampleRate * bytesPerSample * channels) / 1000;

/** Default amount of audio in one message. Our choice: the specification names none. */
export const defaultFrameMs = 20;

/** Bytes of PCM in `ms` milliseconds, always whole samples. */
export function bytesForMs(ms: number): number {
  return Math.round((ms * sampleRate) / 1000) * bytesPerSample;
}

/** Milliseconds of audio in `bytes` bytes of PCM. */
export function msForBytes(bytes: number): number {
  return bytes / bytesPerMs;
}

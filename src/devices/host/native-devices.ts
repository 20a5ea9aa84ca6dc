import type { DeviceFacts } from './host-protocol.ts';

/** The format in which a device was opened: s16le, interleaved. */
export interface NativeFormat {
  readonly sampleRate: number;
  readonly channels: number;
}

export interface InputHandlers {
  onPcm(pcm: Buffer): void;
  onOverrun(frames: number): void;
  onFailure(failure: Error): void;
}

export interface NativeInput {
  readonly format: NativeFormat;
  stop(): Promise<void>;
}

export interface NativeOutput {
  readonly format: NativeFormat;
  /** The size of 20 ms in that format. */
  readonly frameBytes: number;
  /** Resolves when the device wants the next frame. Rejects when it fails. */
  write(frame: Buffer): Promise<void>;
  stop(): Promise<void>;
}

/** A native library. Every function may throw if there is no device, no server or no library. */
export interface NativeDevices {
  list(): DeviceFacts[];
  openInput(device: number | undefined, handlers: InputHandlers): Promise<NativeInput>;
  openOutput(device: number | undefined): Promise<NativeOutput>;
}

/** The size of 20 ms. */
export function nativeFrameBytes({ sampleRate, channels }: NativeFormat): number {
  return (sampleRate / 50) * channels * 2;
}

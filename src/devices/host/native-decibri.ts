import type { Readable } from 'node:stream';
import { channels, sampleRate } from '../../protocol/audio-format.ts';
import type { DeviceFacts } from './host-protocol.ts';
import { type NativeDevices, nativeFrameBytes } from './native-devices.ts';

interface DecibriDevice {
  index: number;
  name: string;
  isDefault: boolean;
  maxInputChannels?: number;
  maxOutputChannels?: number;
}

interface Decibri {
  inputDevices(): DecibriDevice[];
  outputDevices(): DecibriDevice[];
  Microphone: { open(options: object): Promise<Readable & { stop(): void; readonly overrunCount: number }> };
  Speaker: { open(options: object): Promise<{ writeAsync(pcm: Buffer): Promise<void>; stop(): void }> };
}

/**
 * Its queue holds 32 writes of any length: with pieces of 4 ms that is 128 ms of audio instead of 640.
 * Measured with decibri 5.0.0.
 */
const piecesPerFrame = 5;

/** decibri (cpal): needs no compiler, and is the audio backend for Apple Silicon. */
export function openDecibri(require: NodeJS.Require): NativeDevices {
  const library = require('decibri') as Decibri;
  const format = { sampleRate, channels };
  const frameBytes = nativeFrameBytes(format);
  const common = (device: number | undefined) => ({ ...format, ...(device === undefined ? {} : { device }) });
  const facts =
    (role: DeviceFacts['role']) =>
    ({ index, name, isDefault }: DecibriDevice): DeviceFacts => ({
      id: String(index),
      name,
      role,
      isDefault,
    });
  return {
    list: () => [
      // An entry without channels is an ALSA converter, not a device.
      ...library
        .inputDevices()
        .filter(({ maxInputChannels }) => maxInputChannels !== 0)
        .map(facts('input')),
      ...library
        .outputDevices()
        .filter(({ maxOutputChannels }) => maxOutputChannels !== 0)
        .map(facts('output')),
    ],
    async openInput(device, { onPcm, onOverrun, onFailure }) {
      const microphone = await library.Microphone.open({
        ...common(device),
        framesPerBuffer: sampleRate / 50,
      });
      let lost = 0;
      microphone.on('error', onFailure).on('data', (pcm: Buffer) => {
        onPcm(pcm);
        const { overrunCount } = microphone;
        if (overrunCount > lost) onOverrun(overrunCount - lost);
        lost = overrunCount;
      });
      return { format, stop: async () => microphone.stop() };
    },
    async openOutput(device) {
      const speaker = await library.Speaker.open(common(device));
      return {
        format,
        frameBytes,
        async write(frame) {
          const pieceBytes = frame.length / piecesPerFrame;
          for (let offset = 0; offset < frame.length; offset += pieceBytes) {
            await speaker.writeAsync(frame.subarray(offset, offset + pieceBytes));
          }
        },
        stop: async () => speaker.stop(),
      };
    },
  };
}

import type { Readable, Writable } from 'node:stream';
import { channels, sampleRate } from '../../protocol/audio-format.ts';
import type { DeviceFacts } from './host-protocol.ts';
import { type NativeDevices, type NativeFormat, nativeFrameBytes } from './native-devices.ts';

interface PortAudioDevice {
  id: number;
  name: string;
  maxInputChannels: number;
  maxOutputChannels: number;
  defaultSampleRate: number;
}

interface Naudiodon {
  getDevices(): PortAudioDevice[];
  getHostAPIs(): {
    defaultHostAPI: number;
    HostAPIs: { id: number; defaultInput: number; defaultOutput: number }[];
  };
  AudioIO(options: Record<string, object>): (Readable & Writable) & { start(): void; quit(): Promise<void> };
}

/** How much the library queues: pieces of 5 ms for playback, frames of 20 ms for capture. */
const outputQueue = 4;
const inputQueue = 8;
/** With pieces of 10 ms audio is heard 30 ms later, with 20 ms another 50 ms. Measured with naudiodon 2.3.6. */
const piecesPerFrame = 4;

/** naudiodon (PortAudio), without its crash handler, which is tied to one Node ABI and writes files. */
export function openNaudiodon(require: NodeJS.Require): NativeDevices {
  const inside = require.resolve('naudiodon');
  const handler = require.resolve('segfault-handler', { paths: [inside] });
  require.cache[handler] = { exports: { registerHandler() {} }, loaded: true } as unknown as NodeJS.Module;
  const library = require('naudiodon') as Naudiodon;

  /** Without this check an unknown number would silently mean the default device. */
  const find = (id: number | undefined, role: 'maxInputChannels' | 'maxOutputChannels') => {
    const usable = library.getDevices().filter((device) => device[role] > 0);
    const { input, output } = defaults();
    const wanted = id ?? (role === 'maxInputChannels' ? input : output);
    const found = usable.find((device) => device.id === wanted);
    if (found === undefined) throw new Error(id === undefined ? 'No default device' : `No device ${id}`);
    return found;
  };
  const defaults = () => {
    const { defaultHostAPI, HostAPIs } = library.getHostAPIs();
    const api = HostAPIs.find(({ id }) => id === defaultHostAPI) ?? HostAPIs[0];
    return { input: api?.defaultInput, output: api?.defaultOutput };
  };
  const options = (
    id: number,
    { sampleRate, channels }: NativeFormat,
    { maxQueue, pieces }: { maxQueue: number; pieces: number },
  ) => ({
    channelCount: channels,
    sampleFormat: 16,
    sampleRate,
    deviceId: id,
    closeOnError: false,
    highwaterMark: nativeFrameBytes({ sampleRate, channels }) / pieces,
    framesPerBuffer: sampleRate / 50 / pieces,
    maxQueue,
  });
  /** Opens a device in our format or, if that fails, in its own; then the parent converts. */
  const open = (
    side: 'inOptions' | 'outOptions',
    device: PortAudioDevice,
    { own, ...queue }: { own: NativeFormat; maxQueue: number; pieces: number },
  ) => {
    const ours = { sampleRate, channels };
    try {
      return { stream: library.AudioIO({ [side]: options(device.id, ours, queue) }), format: ours };
    } catch {
      return { stream: library.AudioIO({ [side]: options(device.id, own, queue) }), format: own };
    }
  };

  return {
    list() {
      const { input, output } = defaults();
      return library.getDevices().flatMap(({ id, name, maxInputChannels, maxOutputChannels }) => {
        const facts = (role: DeviceFacts['role'], isDefault: boolean): DeviceFacts => {
          return { id: String(id), name, role, isDefault };
        };
        return [
          ...(maxInputChannels > 0 ? [facts('input', id === input)] : []),
          ...(maxOutputChannels > 0 ? [facts('output', id === output)] : []),
        ];
      });
    },
    async openInput(id, { onPcm, onFailure }) {
      const device = find(id, 'maxInputChannels');
      const own = { sampleRate: device.defaultSampleRate, channels: Math.min(2, device.maxInputChannels) };
      const { stream, format } = open('inOptions', device, { own, maxQueue: inputQueue, pieces: 1 });
      stream.on('data', onPcm).on('error', (thrown: unknown) => onFailure(new Error(String(thrown))));
      stream.on('end', () => onFailure(new Error('The device has ended')));
      stream.start();
      return { format, stop: () => stream.quit() };
    },
    async openOutput(id) {
      const device = find(id, 'maxOutputChannels');
      const own = { sampleRate: device.defaultSampleRate, channels: Math.min(2, device.maxOutputChannels) };
      const { stream, format } = open('outOptions', device, {
        own,
        maxQueue: outputQueue,
        pieces: piecesPerFrame,
      });
      const frameBytes = nativeFrameBytes(format);
      const pieceBytes = frameBytes / piecesPerFrame;
      const writePiece = (piece: Buffer) =>
        new Promise<void>((resolve, reject) => {
          stream.write(piece, (thrown) => (thrown ? reject(thrown) : resolve()));
        });
      const write = async (frame: Buffer) => {
        for (let at = 0; at < frame.length; at += pieceBytes) {
          await writePiece(frame.subarray(at, at + pieceBytes));
        }
      };
      // The device must have something to play when it starts.
      for (let i = 0; i < outputQueue; i += 1) await writePiece(Buffer.alloc(pieceBytes));
      stream.start();
      return {
        format,
        frameBytes,
        write,
        stop: () => stream.quit(),
      };
    },
  };
}

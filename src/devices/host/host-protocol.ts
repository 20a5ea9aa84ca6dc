import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseJson } from '../../protocol/parse-json.ts';

/** The task of the device host: its only argument, as JSON. */
export interface HostTask {
  readonly library: 'naudiodon' | 'decibri';
  readonly act: 'capture' | 'playback' | 'list';
  /** The library's own number of the device. Undefined: the default. */
  readonly device?: number;
}

/** A sound device, as a library or a program lists it. */
export interface DeviceFacts {
  /** Selects it in its backend. */
  readonly id: string;
  readonly name: string;
  readonly role: 'input' | 'output';
  readonly isDefault: boolean;
}

/** Messages of the device host, one line of JSON each. */
export type HostMessage =
  /** The process is running, and loads its library next. */
  | { readonly type: 'started' }
  /** The device is open, in this format: s16le, interleaved. */
  | { readonly type: 'ready'; readonly sampleRate: number; readonly channels: number }
  /**
   * The device took this many of our 20 ms frames. 0: there were none, so it took silence. `burst`: how many frames it
   * usually takes at once.
   */
  | { readonly type: 'took'; readonly frames: number; readonly burst: number }
  /** Audio was dropped before the parent could take it. */
  | { readonly type: 'overrun'; readonly frames: number }
  | { readonly type: 'devices'; readonly devices: DeviceFacts[] }
  | { readonly type: 'failed'; readonly message: string };

/** One message as a line. */
export function writeHostMessage(message: HostMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** Calls `onMessage` for each message. Other lines are ignored: native code may print anywhere. */
export function readHostMessages(control: Readable, onMessage: (message: HostMessage) => void): void {
  createInterface({ input: control }).on('line', (line) => {
    const message = parseJson(line);
    if (message !== undefined) onMessage(message as HostMessage);
  });
}

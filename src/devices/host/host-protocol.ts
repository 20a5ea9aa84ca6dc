import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** What the device host is asked to do: its one argument, as JSON. */
export interface HostTask {
  readonly library: 'naudiodon' | 'decibri';
  readonly act: 'capture' | 'playback' | 'list';
  /** The library's own number for the device; undefined: the default. */
  readonly device?: number;
}

/** A sound device, as a library or a program lists it. */
export interface DeviceFacts {
  /** What selects it, in the terms of its backend. */
  readonly id: string;
  readonly name: string;
  readonly role: 'input' | 'output';
  readonly isDefault: boolean;
}

/** What the device host says, each a line of JSON. */
export type HostMessage =
  /** The device is open, in this format: s16le, interleaved. */
  | { readonly type: 'ready'; readonly sampleRate: number; readonly channels: number }
  /**
   * The device took so many 20 ms frames of ours; 0: it took silence, for want of one. `burst` is the most that it has
   * taken at once so far.
   */
  | { readonly type: 'took'; readonly frames: number; readonly burst: number }
  /** Audio was lost before it could be handed on. */
  | { readonly type: 'overrun'; readonly frames: number }
  | { readonly type: 'devices'; readonly devices: DeviceFacts[] }
  | { readonly type: 'failed'; readonly message: string };

/** One message as a line. */
export function writeHostMessage(message: HostMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** Calls for each message. What is not one is left out: native code may print anywhere. */
export function readHostMessages(control: Readable, onMessage: (message: HostMessage) => void): void {
  createInterface({ input: control }).on('line', (line) => {
    const message = parse(line);
    if (message !== undefined) onMessage(message);
  });
}

function parse(line: string): HostMessage | undefined {
  try {
    return JSON.parse(line) as HostMessage;
  } catch {
    return undefined;
  }
}

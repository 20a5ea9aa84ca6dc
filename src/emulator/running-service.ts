import type { Addresses } from '../wire/server/addresses.ts';
import type { EventWatch } from './event-watch.ts';

/** A running emulator, without its control. */
export interface RunningService extends Readonly<Addresses>, EventWatch {
  readonly port: number;
  /** Addresses for other machines, if the emulator listens on all interfaces. */
  readonly lan: readonly Addresses[];
  /** With TLS: the certificate that clients have to trust, as PEM. */
  readonly certificate: string | undefined;
  /** Stops accepting, closes each stream with 1001, and resolves when all streams have ended. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

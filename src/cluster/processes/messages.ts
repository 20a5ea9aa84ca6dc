import type { ErrorCode } from '../../kernel/errors.ts';
import type { AnyControl } from '../../service/control/emulator-control.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import type { OpenService } from '../../service/open-service.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';

/** What the screen of `serve` does with an emulator. */
export type ServedControl = Pick<AnyControl, 'state' | 'time' | 'advance' | 'send' | 'close'> & {
  readonly faults: Pick<AnyControl['faults'], 'add' | 'clear'>;
};

/** An emulator that `serve` runs: alone, as one of several, or several processes as one. */
export interface ServedEmulator
  extends Readonly<Pick<OpenService, 'baseUrl' | 'wsUrl' | 'port' | 'lan' | 'certificate' | 'close'>> {
  readonly control: ServedControl;
}

/** What an emulator process reports once it listens. */
export type ReadyFacts = Omit<ServedEmulator, 'control' | 'close'> & { controlSecret: string };

/** A call of the control, by its name. */
export type ProcessCall = Exclude<keyof ServedControl, 'faults'> | 'faults.add' | 'faults.clear';

/** From the first process to an emulator process. */
export type ToEmulator =
  | { type: 'start'; tls: false | TlsCertificate; controlSecret: string | undefined }
  | { type: 'call'; id: number; name: ProcessCall; args: unknown[] }
  | { type: 'stop' };

/** From an emulator process to the first one. */
export type FromEmulator =
  /** It listens for messages from now on; an earlier one would be lost. */
  | { type: 'hears' }
  | { type: 'event'; event: EmulatorEvent }
  | { type: 'ready'; facts: ReadyFacts }
  | { type: 'failed'; code: ErrorCode; message: string; hint: string | undefined }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'refused'; id: number; code: ErrorCode; message: string; hint: string | undefined };

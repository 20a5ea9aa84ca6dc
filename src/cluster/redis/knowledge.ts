import type { MovableClock } from '../../kernel/clock.ts';
import type { Fault } from '../../protocol/faults.ts';
import type { EmulatorEventBody } from '../../service/events.ts';
import { checkFault } from '../../service/faults/faults.ts';
import type { BusMessage } from './bus.ts';
import type { SharedSecrets } from './identity.ts';

export type SharedFault = { id: number; fault: Fault };

/** What an emulator does when the service asks it. */
export interface Member {
  emit(body: EmulatorEventBody): void;
  syncFaults(faults: readonly SharedFault[]): void;
  /** Signs and verifies with these from now on. */
  replaceSecrets(secrets: SharedSecrets): Promise<void>;
  /** Forgets what it knows of devices, because the service was reset. */
  forget(): void;
  /** It has another number from now on. */
  renumber(number: number): void;
  perform(asked: BusMessage): unknown;
}

/** What this emulator knows of the service, and reports to the member when it learns more. */
export interface Knowledge {
  /** The clock of the service, which is moved by what is learnt. */
  readonly clock: MovableClock;
  /** Undefined until it takes part. */
  member: Member | undefined;
  /** Another emulator asks it to report that it runs. */
  onPulse: () => void;
  life: string;
  secrets: SharedSecrets;
  number: number;
  /** How far its clock is ahead, milliseconds. */
  readonly offset: number;
  /** The active faults, as Redis has them. */
  readonly faults: string;
  moveTo(offset: number): void;
  setFaults(list: unknown): void;
  readFaults(): SharedFault[];
}

export function createKnowledge(
  clock: MovableClock,
  { life, secrets, number, faults }: Pick<Knowledge, 'life' | 'secrets' | 'number' | 'faults'>,
): Knowledge {
  let offset = 0;
  let current = JSON.stringify(JSON.parse(faults));
  const known: Knowledge = {
    ...{ clock, life, secrets, number },
    member: undefined,
    onPulse() {},
    get offset() {
      return offset;
    },
    get faults() {
      return current;
    },
    moveTo(total) {
      if (total <= offset) return;
      const ms = total - offset;
      offset = total;
      clock.advance(ms);
    },
    setFaults(list) {
      const text = JSON.stringify(list);
      if (text === current) return;
      const read = readFaults(list);
      current = text;
      known.member?.syncFaults(read);
    },
    readFaults: () => readFaults(JSON.parse(current)),
  };
  return known;
}

function readFaults(value: unknown): SharedFault[] {
  if (!Array.isArray(value)) return [];
  return (value as [number, string][]).map(([id, text]) => ({
    id: Number(id),
    fault: checkFault(JSON.parse(text)),
  }));
}

import { VoicectlError } from '../../kernel/errors.ts';
import {
  type Fault,
  type FaultAt,
  type FaultInput,
  type FaultPoint,
  parseFault,
  readFault,
  strikesAt,
} from '../../protocol/faults.ts';
import type { EmulatorEvents } from '../events.ts';
import type { Random } from '../random.ts';

/** A fault that waits for its opportunities. */
export interface ActiveFault {
  readonly id: number;
  readonly fault: Fault;
  /** How often it has struck. */
  struck: number;
}

/** What a fault may strike: whatever is known of it at that point. */
export interface FaultSubject {
  device?: string | undefined;
  stream?: number | undefined;
  /** Faults that were told of for this subject; they are not told of again. */
  told?: Set<number>;
}

/** The faults of an emulator. */
export interface Faults {
  /** Adds a fault, after those that are there. Throws `usage` saying what was expected. */
  add(input: FaultInput | string): ActiveFault;
  list(): readonly ActiveFault[];
  /** Takes one fault away, or all; the result is how many. */
  clear(id?: number): number;
  /** Goes back to the faults of the start, none of which has struck. */
  reset(): void;
  take: TakeFaults;
  /** Calls for each fault that is added from now on, with what takes that fault alone; the result ends that. */
  onAdded(listener: (take: TakeFaults) => void): () => void;
}

/** The faults that strike this subject at this point: each is counted, and told as an event. */
export type TakeFaults = <Point extends FaultPoint>(
  point: Point,
  subject: FaultSubject,
) => readonly FaultAt<Point>[];

export interface FaultsOptions {
  initial: readonly (FaultInput | string)[];
  random: Random;
  events: EmulatorEvents;
}

/** Faults that may be active at once. */
const maxFaults = 1_000;
const none: readonly never[] = [];

export function createFaults({ initial, random, events }: FaultsOptions): Faults {
  let active: Entry[] = [];
  let nextId = 1;
  const listeners = new Set<(take: TakeFaults) => void>();

  const add = (input: FaultInput | string): Entry => {
    const entry = { id: nextId++, fault: checkFault(input), struck: 0, chance: random.sequence() };
    if (active.length >= maxFaults) throw new VoicectlError('usage', `More than ${maxFaults} faults`);
    active.push(entry);
    return entry;
  };

  const tell = ({ id, fault: { name } }: Entry, { device, stream, told }: FaultSubject) => {
    if (told?.has(id)) return;
    told?.add(id);
    const of = { ...(device === undefined ? {} : { device }), ...(stream === undefined ? {} : { stream }) };
    events.emit({ type: 'fault-struck', fault: name, id, ...of });
  };

  const takeFrom =
    (entries: () => readonly Entry[]): TakeFaults =>
    (point, subject) => {
      if (active.length === 0) return none;
      return entries().flatMap((entry) => {
        const { fault } = entry;
        if (!strikesAt(fault, point) || !concerns(fault, subject) || !takesItsChance(entry)) return [];
        entry.struck += 1;
        tell(entry, subject);
        return [fault];
      });
    };

  for (const input of initial) add(input);
  return {
    add(input) {
      const entry = add(input);
      const take = takeFrom(() => [entry]);
      for (const listener of listeners) listener(take);
      return entry;
    },
    list: () => active,
    clear(id) {
      const before = active.length;
      active = id === undefined ? [] : active.filter((entry) => entry.id !== id);
      return before - active.length;
    },
    reset() {
      active = [];
      for (const input of initial) add(input);
    },
    take: takeFrom(() => active),
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

type Entry = ActiveFault & { chance: () => number };

/** A fault as it is written: `NAME:key=value,…` or an object. Throws `usage` saying what was expected. */
export function checkFault(input: FaultInput | string): Fault {
  try {
    return typeof input === 'string' ? readFault(input) : parseFault(input);
  } catch (cause) {
    throw new VoicectlError('usage', `Wrong fault: ${(cause as Error).message}`, {
      hint: '`voicectl emulator fault list` shows all faults.',
      cause,
    });
  }
}

function concerns(fault: Fault, { device, stream }: FaultSubject): boolean {
  if ('stream' in fault && fault.stream !== undefined && fault.stream !== stream) return false;
  return !('device' in fault && fault.device !== undefined && fault.device !== device);
}

function takesItsChance({ fault: { times, probability }, struck, chance }: Entry): boolean {
  if (times !== undefined && struck >= times) return false;
  return probability === 1 || chance() < probability;
}

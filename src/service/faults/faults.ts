import { VoicectlError } from '../../kernel/errors.ts';
import {
  type Fault,
  type FaultAt,
  type FaultInput,
  type FaultPoint,
  strikesAt,
} from '../../protocol/faults.ts';
import { parseFault, readFault } from '../../protocol/read-fault.ts';
import type { Side } from '../../wire/exchange.ts';
import type { EmulatorEvents, SentHeaders } from '../events.ts';
import type { Random } from '../random.ts';

/** A fault that was added, with its number and how often it has struck. */
export interface ActiveFault {
  readonly id: number;
  readonly fault: Fault;
  struck: number;
}

/** What a fault may strike, with what is known at that point. */
export interface FaultSubject {
  device?: string | undefined;
  stream?: number | undefined;
  /** The side that is struck: the device, or through a proxy the service. */
  direction?: Side | undefined;
  /** The headers of the request that it strikes. */
  sent?: SentHeaders | undefined;
  /** Faults already reported for this subject. Each is reported once. */
  reported?: Set<number>;
}

/** The faults of an emulator. */
export interface Faults {
  /** Adds a fault after the existing ones. Throws `usage` saying what was expected. */
  add(input: FaultInput | string): ActiveFault;
  list(): readonly ActiveFault[];
  /** Whether this fault of the list, which has struck, is still active. */
  has(fault: Fault): boolean;
  /** Removes one fault, or all. Returns how many it removed. */
  clear(id?: number): number;
  /** Restores the initial faults, with their counts at zero. */
  reset(): void;
  /** Makes these the active faults. Those that were active before keep their counts. */
  sync(faults: readonly Pick<ActiveFault, 'id' | 'fault'>[]): void;
  /** Counts strikes of a fault at another emulator of the service. */
  countStrikes(id: number, strikes: number): void;
  strike: StrikeFaults;
  /** Calls the listener for each fault added from now on, with a function that takes only that fault. Call the result to stop. */
  onAdded(listener: (strike: StrikeFaults) => void): () => void;
  /** Calls the listener each time faults may have been removed. Call the result to stop. */
  onCleared(listener: () => void): () => void;
}

/** The faults that strike this subject at this point. Counts each one and emits an event for it. */
export type StrikeFaults = <Point extends FaultPoint>(
  point: Point,
  subject: FaultSubject,
  how?: StrikeOptions<FaultAt<Point>>,
) => readonly FaultAt<Point>[];

export interface StrikeOptions<Struck> {
  /** For which faults this is an opportunity. Default: all. */
  only?: (fault: Struck) => boolean;
  /** Does what the fault does; false if there was nothing to do: then it has not struck. */
  acts?: (fault: Struck) => boolean;
}

export interface FaultsOptions {
  initial: readonly (FaultInput | string)[];
  random: Random;
  events: EmulatorEvents;
  /** Why a fault is refused here, in a sentence; undefined if it is not. Default: none is. */
  refuses?: ((fault: Fault) => string | undefined) | undefined;
  /** Number of the first fault that is added here. Default 1. `sync` leaves those from it on alone. */
  firstId?: number;
  /** Called for each strike. */
  onStruck?: ((id: number) => void) | undefined;
}

/** Faults that may be active at once. */
const maxFaults = 1_000;
const none: readonly never[] = [];

export function createFaults(options: FaultsOptions): Faults {
  const { initial, random, events, refuses, firstId, onStruck } = options;
  let active: Entry[] = [];
  let nextId = firstId ?? 1;
  const listeners = new Set<(strike: StrikeFaults) => void>();
  const clearListeners = new Set<() => void>();

  const enter = (id: number, fault: Fault): Entry => {
    const entry = { id, fault, struck: 0, passed: 0, chance: random.sequence() };
    if (active.length >= maxFaults) throw new VoicectlError('usage', `More than ${maxFaults} faults`);
    active.push(entry);
    return entry;
  };
  const add = (input: FaultInput | string) => {
    const entry = enter(nextId, checkFault(input, refuses));
    nextId += 1;
    return entry;
  };
  const emitAdded = (entry: Entry) => {
    const strike = strikeFrom(() => [entry]);
    for (const listener of listeners) listener(strike);
  };

  const emitCleared = () => {
    for (const listener of clearListeners) listener();
  };

  const emitStruck = ({ id, fault: { name } }: Entry, { device, stream, sent, reported }: FaultSubject) => {
    if (reported?.has(id)) return;
    reported?.add(id);
    const of = { ...(device === undefined ? {} : { device }), ...(stream === undefined ? {} : { stream }) };
    const asked = sent === undefined ? {} : { sent };
    events.emit({ type: 'fault-struck', fault: name, id, ...of, ...asked });
  };

  const strikeFrom =
    (entries: () => readonly Entry[]): StrikeFaults =>
    (point, subject, how) => {
      if (active.length === 0) return none;
      return entries().flatMap((entry) => {
        const { fault } = entry;
        if (!strikesAt(fault, point) || !concerns(fault, subject) || how?.only?.(fault) === false) return [];
        if (!takesItsChance(entry) || how?.acts?.(fault) === false) return [];
        entry.struck += 1;
        onStruck?.(entry.id);
        emitStruck(entry, subject);
        return [fault];
      });
    };

  for (const input of initial) add(input);
  return {
    add(input) {
      const entry = add(input);
      emitAdded(entry);
      return entry;
    },
    sync(faults) {
      const wanted = new Set(faults.map(({ id }) => id));
      active = active.filter(({ id }) => wanted.has(id) || (firstId !== undefined && id >= firstId));
      emitCleared();
      const known = new Set(active.map(({ id }) => id));
      for (const { id, fault } of faults) if (!known.has(id)) emitAdded(enter(id, fault));
    },
    countStrikes(id, strikes) {
      const entry = active.find((one) => one.id === id);
      if (entry !== undefined) entry.struck += strikes;
    },
    list: () => active,
    has: (fault) => active.some((entry) => entry.fault === fault),
    clear(id) {
      const before = active.length;
      active = id === undefined ? [] : active.filter((entry) => entry.id !== id);
      emitCleared();
      return before - active.length;
    },
    reset() {
      active = [];
      for (const input of initial) add(input);
      emitCleared();
      for (const entry of active) emitAdded(entry);
    },
    strike: strikeFrom(() => active),
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onCleared(listener) {
      clearListeners.add(listener);
      return () => clearListeners.delete(listener);
    },
  };
}

/** `passed`: how often it could have struck so far. `chance`: numbers from 0 up to 1. */
type Entry = ActiveFault & { chance: () => number; passed: number };

/** Reads a fault: `NAME:key=value,…` or an object. Throws `usage` saying what was expected, or why it is refused. */
export function checkFault(input: FaultInput | string, refuses?: FaultsOptions['refuses']): Fault {
  const fault = readInput(input);
  const why = refuses?.(fault);
  if (why !== undefined) throw new VoicectlError('usage', why);
  return fault;
}

function readInput(input: FaultInput | string): Fault {
  try {
    return typeof input === 'string' ? readFault(input) : parseFault(input);
  } catch (cause) {
    const name = typeof input === 'string' ? input : (input as { name?: unknown } | null)?.name;
    throw new VoicectlError('usage', `Invalid fault ${JSON.stringify(name)}: ${(cause as Error).message}`, {
      hint: '`voicectl emulator fault list` shows all faults.',
      cause,
    });
  }
}

function concerns(fault: Fault, { device, stream, direction = 'device' }: FaultSubject): boolean {
  if ('direction' in fault ? (fault.direction ?? 'device') !== direction : direction !== 'device')
    return false;
  if ('stream' in fault && fault.stream !== undefined && fault.stream !== stream) return false;
  return !('device' in fault && fault.device !== undefined && fault.device !== device);
}

function takesItsChance(entry: Entry): boolean {
  const { fault, struck, chance } = entry;
  const { skip = 0, times, probability } = fault;
  entry.passed += 1;
  if (entry.passed <= skip || (times !== undefined && struck >= times)) return false;
  return probability === 1 || chance() < probability;
}

import type { Clock, ClockTimer } from '../kernel/clock.ts';
import type { EmulatorEventBody, EmulatorEvents } from './events.ts';

/** How many events of each kind are emitted one by one per second. Further ones are only counted. */
const emittedOneByOne = { 'request-refused': 100, 'text-received': 20 } as const;
const periodMs = 1_000;

type FloodBody = Extract<EmulatorEventBody, { type: keyof typeof emittedOneByOne }>;

interface Flood {
  emitted: number;
  /** The counted events as one: their common fields and their number. */
  folded: (FloodBody & { count: number }) | undefined;
  timer: ClockTimer;
}

/** Emits the further events of a flood together, once a second, with their count. */
export interface FoldedEvents extends EmulatorEvents {
  /** Emits the counts so far. */
  flush(): void;
}

/** Keeps a flood of refusals or texts from filling the journal and the views. */
export function foldFloods(events: EmulatorEvents, clock: Clock): FoldedEvents {
  const floods = new Map<string, Flood>();

  const emitFolded = (flood: Flood) => {
    if (flood.folded !== undefined) events.emit(flood.folded);
    flood.folded = undefined;
  };
  const later = (key: string) =>
    clock.after(
      periodMs,
      () => {
        const flood = floods.get(key);
        if (flood?.folded === undefined) {
          floods.delete(key);
          return;
        }
        emitFolded(flood);
        flood.timer = later(key);
      },
      { background: true },
    );
  const begin = (key: string): Flood => {
    const flood = { emitted: 0, folded: undefined, timer: later(key) };
    floods.set(key, flood);
    return flood;
  };
  const end = (key: string) => {
    const flood = floods.get(key);
    if (flood === undefined) return;
    flood.timer.cancel();
    floods.delete(key);
    emitFolded(flood);
  };
  const flush = () => {
    for (const key of floods.keys()) end(key);
  };

  return {
    subscribe: events.subscribe,
    redact: events.redact,
    flush,
    emit(body) {
      if (body.type === 'stopping') flush();
      if (body.type === 'stream-closed') end(textsOf(body.stream));
      if (!isFlooding(body)) return events.emit(body);
      const key = keyOf(body);
      const flood = floods.get(key) ?? begin(key);
      if (flood.emitted < emittedOneByOne[body.type]) {
        flood.emitted += 1;
        return events.emit(body);
      }
      flood.folded = fold(flood.folded, body);
      return false;
    },
  };
}

function isFlooding(body: EmulatorEventBody): body is FloodBody {
  return body.type in emittedOneByOne;
}

function keyOf(body: FloodBody): string {
  return body.type === 'text-received' ? textsOf(body.stream) : `refused ${body.cause}`;
}

function textsOf(stream: number): string {
  return `texts of ${stream}`;
}

/** Several events as one: texts with the sum of their bytes, refusals with their common fields. */
function fold(before: Flood['folded'], body: FloodBody): FloodBody & { count: number } {
  if (before === undefined) return { ...body, count: 1 };
  const count = before.count + 1;
  if (body.type === 'text-received')
    return { ...body, bytes: body.bytes + (before.type === body.type ? before.bytes : 0), count };
  const { device, path, remote, why, sent: _, ...rest } = body;
  const known = { device, path, remote, why };
  const shared = Object.entries(known).filter(
    ([name, value]) =>
      value !== undefined && Object.hasOwn(before, name) && before[name as keyof typeof before] === value,
  );
  return { ...rest, ...Object.fromEntries(shared), count };
}

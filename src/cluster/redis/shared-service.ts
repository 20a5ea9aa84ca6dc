import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Clock,
  type ClockTimer,
  createMovableClock,
  type MovableClock,
  repeat,
  systemClock,
} from '../../kernel/clock.ts';
import type { State } from '../../service/state/state.ts';
import { type Bus, type BusMessage, createBus } from './bus.ts';
import { connectRedis, type RedisConnection } from './connection.ts';
import { type Identity, type IdentityFacts, identityOf, type SharedSecrets } from './identity.ts';
import { evictionWarnings, joinSharedService, readService, refuseStart } from './join-service.ts';
import { createSharedJournal, type SharedJournal } from './journal.ts';
import { createKeys, type RedisKeys } from './keys.ts';
import { createKnowledge, type Knowledge, type Member, type SharedFault } from './knowledge.ts';
import { createSharedLeases, type SharedLeases } from './leases.ts';
import { createRedisLink, ignoreAway, type RedisLink } from './link.ts';
import { createRedisState } from './redis-state.ts';
import { appendScript, clearJournalScript } from './scripts/journal.ts';
import {
  advanceScript,
  faultsScript,
  joinScript,
  leaveScript,
  pulseScript,
  returnScript,
} from './scripts/life.ts';
import type { Script } from './scripts/script.ts';
import { leaseScript, releaseScript, renewScript, spendScript } from './scripts/slots.ts';
import {
  countScript,
  forgetScript,
  restoreWindowScript,
  surveyScript,
  timeScript,
} from './scripts/window.ts';
import { createRedisTime, type RedisTime } from './time.ts';
import { createSharedWindows, type SharedWindows } from './windows.ts';

/** How often an emulator reports that it runs, and renews its leases. */
const pulseEveryMs = 5_000;
const startDeadlineMs = 3_000;
/** Maximum number of kinds of foreign data that are reported. */
const maxForeignReported = 20;
/** A century: no clock is further ahead. */
const maxOffsetMs = 100 * 365 * 86_400_000;

export interface SharedServiceOptions {
  url: string;
  prefix: string;
  base: Clock;
  facts: IdentityFacts;
}

/** One service of several emulators, as one of them sees it. */
export interface SharedService {
  /** Unique, and never shown. */
  readonly id: string;
  /** Name of this emulator: its machine and its number. */
  readonly instance: string;
  /** Its number; no other emulator of the service has it. It changes if Redis loses its data and gives it to another one. */
  readonly number: number;
  readonly secrets: SharedSecrets;
  readonly faults: readonly SharedFault[];
  /** The machine's clock with the time of day of Redis, and the clock of the service. */
  readonly baseClock: Clock;
  readonly clock: MovableClock;
  readonly state: State;
  readonly ask: Bus['ask'];
  readonly publish: Bus['publish'];
  /** Changes the faults of all. */
  changeFaults(how: 'add' | 'clear' | 'replace', args: readonly string[]): Promise<number>;
  /** Takes part from now on: reports that it runs, and does what other emulators ask. */
  attach(member: Member): Promise<void>;
  close(): Promise<void>;
}

/**
 * Joins the service that a Redis holds, or creates it. Throws `connect-failed` if Redis cannot be reached, `tls-failed`, and
 * `bad-config` if Redis refuses the password or if other emulators of the service run with other settings.
 */
export async function openSharedService(options: SharedServiceOptions): Promise<SharedService> {
  const { url, prefix, base, facts } = options;
  const keys = createKeys(prefix);
  const time = createRedisTime(base);
  const identity = identityOf(facts);
  const [emulator, machine] = [randomUUID(), hostname()];
  let onLost = (_why: string) => {};
  const connection = await connectRedis({
    url,
    scripts: allScripts,
    deadlineMs: startDeadlineMs,
    onLost: (why) => onLost(why),
  }).catch((thrown) => refuseStart(url, thrown));
  const joined = await joinSharedService(connection, commonKeys(keys), { url, emulator, identity, facts });
  const warnings = await evictionWarnings(connection);
  await time.measure(connection);
  const known = createKnowledge(createMovableClock(time.clock), joined);
  const parts = createParts(options, { keys, time, known, emulator, identity });
  // Nothing that can fail follows: a link that has begun retries forever.
  const { link, bus, journal } = parts;
  onLost = link.lost;
  link.begin(connection, joined.life);
  known.moveTo(joined.offset);
  const pulse = createLifePulse(parts);

  return {
    id: emulator,
    get instance() {
      return `${machine}-${known.number}`;
    },
    get number() {
      return known.number;
    },
    secrets: known.secrets,
    faults: known.readFaults(),
    baseClock: time.clock,
    clock: known.clock,
    ask: bus.ask,
    publish: bus.publish,
    state: createState(parts, facts),
    async changeFaults(how, args) {
      const [, result] = await link.run(faultsScript, [keys.service], [keys.asks, how, ...args]);
      await settle(bus);
      return Number(result);
    },
    async attach(member) {
      known.member = member;
      known.onPulse = pulse.beat;
      for (const why of warnings) member.emit({ type: 'shared-warning', why });
      await bus.join(connection);
      pulse.start();
    },
    async close() {
      pulse.stop();
      if (link.isUp) {
        await journal.flush().catch(ignoreAway);
        const leaving = [emulator, known.number];
        await link.run(leaveScript, [keys.service, keys.instances], leaving).catch(ignoreAway);
      }
      link.close();
    },
  };
}

const commonKeys = ({ service, instances, devices, issued, journal }: RedisKeys) => [
  ...[service, instances, devices, issued, journal],
];

/** Waits until all emulators have handled the earlier messages. */
const settle = (bus: Bus) => bus.ask('settle', null);

/** What the parts of one emulator are made of. */
interface PartsBase {
  keys: RedisKeys;
  time: RedisTime;
  known: Knowledge;
  /** Id of this emulator. */
  emulator: string;
  identity: Identity;
}

/** The parts through which this emulator uses the service in Redis. */
interface Parts extends PartsBase {
  link: RedisLink;
  windows: SharedWindows;
  leases: SharedLeases;
  journal: SharedJournal;
  bus: Bus;
  onForeign(what: string): void;
}

function createParts({ url, prefix, facts }: SharedServiceOptions, base: PartsBase): Parts {
  const { keys, known, emulator } = base;
  const { dialect, rateLimit, maxConnections } = facts;
  const onForeign = createForeignReports(prefix, known);
  const link: RedisLink = createRedisLink({
    url,
    scripts: allScripts,
    comeBack: (connection) => comeBack(connection, parts),
    onAway: (why) => known.member?.emit({ type: 'shared-away', why }),
    onBack(awayMs) {
      known.member?.emit({ type: 'shared-back', awayMs });
      journal.resume().catch(ignoreAway);
    },
  });
  const windows = createSharedWindows({ link, keys, limit: rateLimit, settings: dialect.rateLimit });
  const leases = createSharedLeases({ link, keys, emulator, most: maxConnections });
  const journal = createSharedJournal({ link, keys, emulator, onForeign });
  const bus = createBus({
    ...{ link, keys, emulator, onForeign },
    perform: (asked) => perform(asked, parts),
    onMissing(op, missing) {
      // A screen asks several times a second; only somebody who acts needs the warning.
      if (op === 'list') return;
      const who = missing === 1 ? 'One emulator does' : `${missing} emulators do`;
      known.member?.emit({ type: 'shared-warning', why: `${who} not answer: ${op}` });
    },
  });
  const parts: Parts = { ...base, link, windows, leases, journal, bus, onForeign };
  return parts;
}

/** Each kind is reported once: another program may write all the time. */
function createForeignReports(prefix: string, known: Knowledge): (what: string) => void {
  const reported = new Set<string>();
  return (what) => {
    if (reported.has(what) || reported.size >= maxForeignReported) return;
    reported.add(what);
    const why = `Another program writes under ${prefix}: in Redis; its ${what} are ignored`;
    known.member?.emit({ type: 'shared-warning', why });
  };
}

/** Does what a message to all emulators asks. */
function perform(asked: BusMessage, { known, windows }: Parts): unknown {
  if (asked.op === 'clock') known.moveTo(readOffset(asked.args));
  else if (asked.op === 'faults') known.setFaults(asked.args);
  else if (asked.op === 'forget') {
    windows.clear();
    known.member?.forget();
  } else if (asked.op === 'pulse') known.onPulse();
  else return known.member?.perform(asked);
  return true;
}

/** Takes part again after a break: reports what this emulator knows, and reads what the others know. */
async function comeBack(connection: RedisConnection, parts: Parts): Promise<void> {
  const { keys, time, known, emulator, identity, link, windows, leases, bus } = parts;
  await bus.join(connection);
  await time.measure(connection);
  const mine = [JSON.stringify(identity), JSON.stringify(known.secrets), known.faults, known.offset];
  const args = [known.life, randomUUID(), ...mine, known.number, emulator, keys.asks];
  const found = readService(await connection.run(returnScript, commonKeys(keys), args), identity);
  const { key, control } = known.secrets;
  if (found.secrets.key !== key || found.secrets.control !== control)
    await known.member?.replaceSecrets(found.secrets);
  known.secrets = found.secrets;
  known.life = found.life;
  link.setLife(found.life);
  await windows.restore(connection, found.life, found.isAnew);
  await leases.renew(connection, found.life);
  known.moveTo(found.offset);
  known.setFaults(JSON.parse(found.faults));
}

/** Reports at an interval that this emulator runs, renews its leases, and learns what it missed. */
function createLifePulse({ keys, time, known, emulator, link, windows, leases }: Parts) {
  let timer: ClockTimer | undefined;
  let isOver = false;
  const pulse = async () => {
    // One that waited for another must not report an emulator that has left.
    if (isOver) return;
    const made = link.connection();
    const before = known.faults;
    const [[, , offset, number, faults]] = await Promise.all([
      link.run(pulseScript, commonKeys(keys), [emulator, known.number]),
      leases.renew(made, known.life),
    ]);
    known.moveTo(Number(offset));
    // One may have been added after this emulator joined, before it listened. What it has heard meanwhile is newer.
    if (known.faults === before) known.setFaults(JSON.parse(String(faults)));
    if (Number(number) !== known.number) {
      known.number = Number(number);
      known.member?.renumber(known.number);
    }
    windows.purge(known.clock.wall());
    await time.measure(made);
  };
  /** One after the other: two at once would both find that the number belongs to another, and take two new ones. */
  let last = Promise.resolve();
  const beat = () => {
    if (link.isUp) last = last.then(pulse).catch(ignoreAway);
  };
  return {
    beat,
    start() {
      if (isOver) return;
      beat();
      timer = repeat(systemClock, pulseEveryMs, beat);
    },
    stop() {
      isOver = true;
      timer?.cancel();
    },
  };
}

function createState(parts: Parts, { dialect, rateLimit }: IdentityFacts): State {
  const { keys, known, link, windows, leases, journal, bus, onForeign } = parts;
  return createRedisState({
    ...{ link, keys, windows, leases, journal, onForeign, dialect, rateLimit },
    nowMs: () => known.clock.wall(),
    clockOffset: () => known.offset,
    async advance(ms) {
      await link.run(advanceScript, [keys.service], [ms, keys.asks]);
      await settle(bus);
    },
    async forgetAll() {
      await bus.ask('forget', null);
    },
  });
}

/** How far the clock of the service is ahead, milliseconds. Throws if it is not such a number. */
function readOffset(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value < maxOffsetMs) return value;
  throw new RangeError('A clock cannot be moved by this amount');
}

/** All scripts. Each connection loads them when it begins. */
export const allScripts: readonly Script[] = [
  advanceScript,
  clearJournalScript,
  countScript,
  faultsScript,
  forgetScript,
  joinScript,
  leaseScript,
  leaveScript,
  appendScript,
  pulseScript,
  releaseScript,
  renewScript,
  restoreWindowScript,
  returnScript,
  spendScript,
  surveyScript,
  timeScript,
];

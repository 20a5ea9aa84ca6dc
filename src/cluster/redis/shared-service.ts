import { randomUUID } from 'node:crypto';
import {
  type Clock,
  type ClockTimer,
  createMovableClock,
  type MovableClock,
  repeat,
  systemClock,
} from '../../kernel/clock.ts';
import type { Fault } from '../../protocol/faults.ts';
import type { EmulatorEventBody } from '../../service/events.ts';
import { checkFault } from '../../service/faults/faults.ts';
import type { State } from '../../service/state/state.ts';
import { type Bus, type BusMessage, createBus } from './bus.ts';
import { connectRedis, type RedisConnection } from './connection.ts';
import { type IdentityFacts, identityOf, type SharedSecrets } from './identity.ts';
import { evictionWarnings, joinSharedService, readService, refuseStart } from './join-service.ts';
import { createSharedJournal } from './journal.ts';
import { createKeys } from './keys.ts';
import { createSharedLeases } from './leases.ts';
import { createRedisLink, ignoreAway } from './link.ts';
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
import { leaseScript, releaseScript, renewScript } from './scripts/slots.ts';
import { spendScript } from './scripts/tokens.ts';
import {
  countScript,
  forgetScript,
  restoreWindowScript,
  surveyScript,
  timeScript,
} from './scripts/window.ts';
import { createSharedWindows } from './windows.ts';

/** How often an emulator reports that it runs, and renews its leases. */
const pulseEveryMs = 5_000;
const startDeadlineMs = 3_000;
/** Most kinds of what other programs write that are reported. */
const maxForeignTold = 20;
/** A century: no clock is further ahead. */
const maxOffsetMs = 100 * 365 * 86_400_000;

export type SharedFault = { id: number; fault: Fault };

export interface SharedServiceOptions {
  url: string;
  prefix: string;
  base: Clock;
  facts: IdentityFacts;
}

/** What an emulator does when the service asks it. */
export interface Member {
  emit(body: EmulatorEventBody): void;
  syncFaults(faults: readonly SharedFault[]): void;
  /** Signs and verifies with these from now on. */
  takeSecrets(secrets: SharedSecrets): Promise<void>;
  perform(asked: BusMessage): unknown;
}

/** One service of several emulators, as one of them sees it. */
export interface SharedService {
  /** Name of this emulator. */
  readonly instance: string;
  /** Its number; no other emulator of the service has had it. */
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
export async function openSharedService({
  url,
  prefix,
  base,
  facts,
}: SharedServiceOptions): Promise<SharedService> {
  const keys = createKeys(prefix);
  const common = [keys.service, keys.instances, keys.devices, keys.issued, keys.journal];
  const identity = identityOf(facts);
  const identityText = JSON.stringify(identity);
  const time = createRedisTime(base);
  const clock = createMovableClock(time.clock);
  let member: Member | undefined;
  let offset = 0;
  let life = '';
  /** The active faults, as Redis has them. */
  let faults = '[]';
  let timer: ClockTimer | undefined;
  let closed = false;

  const applyOffset = (total: number) => {
    if (total <= offset) return;
    const ms = total - offset;
    offset = total;
    clock.advance(ms);
  };
  const takeFaults = (list: unknown) => {
    const read = readFaults(list);
    faults = JSON.stringify(list);
    member?.syncFaults(read);
  };
  const foreign = new Set<string>();
  /** Reported once: another program may write all the time. */
  const onForeign = (what: string) => {
    if (foreign.has(what) || foreign.size >= maxForeignTold) return;
    foreign.add(what);
    const why = `Another program writes under ${prefix}: in Redis; its ${what} are left out`;
    member?.emit({ type: 'shared-warning', why });
  };
  const perform = (asked: BusMessage): unknown => {
    if (asked.op === 'clock') applyOffset(readOffset(asked.args));
    else if (asked.op === 'faults') takeFaults(asked.args);
    else if (asked.op === 'forget') windows.clear();
    else return member?.perform(asked);
    return true;
  };

  /** Takes part again after a break: reports what this emulator knows, and reads what the others know. */
  const comeBack = async (connection: RedisConnection) => {
    await bus.join(connection);
    await time.measure(connection);
    const mine = [identityText, JSON.stringify(secrets), faults];
    const args = [life, randomUUID(), ...mine, offset, number, instance];
    const found = readService(await connection.run(returnScript, common, args), identity);
    const isKnown = found.secrets.key === secrets.key && found.secrets.control === secrets.control;
    if (!isKnown) await member?.takeSecrets(found.secrets);
    secrets = found.secrets;
    life = found.life;
    link.setLife(life);
    if (found.isAnew) await windows.restore(connection, life);
    await leases.renew(connection, life);
    applyOffset(found.offset);
    takeFaults(JSON.parse(found.faults));
  };

  const link = createRedisLink({
    url,
    scripts: allScripts,
    comeBack,
    onAway: (why) => member?.emit({ type: 'shared-away', why }),
    onBack(awayMs) {
      member?.emit({ type: 'shared-back', awayMs });
      journal.resume().catch(ignoreAway);
    },
  });
  const windows = createSharedWindows({
    ...{ link, keys },
    limit: facts.rateLimit,
    settings: facts.dialect.rateLimit,
  });
  const leases = createSharedLeases({ link, keys, instance: () => instance, most: facts.maxConnections });
  const journal = createSharedJournal({ link, keys, onForeign });
  const bus = createBus({
    ...{ link, keys, perform, onForeign },
    instance: () => instance,
    onMissing(op, missing) {
      // A screen asks several times a second; only somebody who acts needs the warning.
      if (op === 'list') return;
      const who = missing === 1 ? 'One emulator does' : `${missing} emulators do`;
      member?.emit({ type: 'shared-warning', why: `${who} not answer: ${op}` });
    },
  });

  const connection = await connectRedis({
    url,
    scripts: allScripts,
    deadlineMs: startDeadlineMs,
    onLost: (why) => link.lost(why),
  }).catch((thrown) => refuseStart(url, thrown));
  const joined = await joinSharedService(connection, common, { url, identity, facts });
  const { number, instance } = joined;
  let { secrets } = joined;
  life = joined.life;
  faults = joined.faults;
  const warnings = await evictionWarnings(connection);
  await time.measure(connection);
  // Nothing that can fail follows: a link that has begun tries again for ever.
  link.begin(connection, life);
  applyOffset(joined.offset);

  const pulse = async () => {
    const made = link.connection();
    const [[, , itsNow]] = await Promise.all([
      link.run(pulseScript, common, [instance]),
      leases.renew(made, life),
    ]);
    applyOffset(Number(itsNow));
    windows.purge(clock.wall());
    await time.measure(made);
  };
  const beat = () => {
    if (link.isUp) pulse().catch(ignoreAway);
  };
  /** Waits until all emulators have handled the earlier messages. */
  const settle = () => bus.ask('settle', null);

  const state = createRedisState({
    ...{ link, keys, windows, leases, journal, onForeign },
    dialect: facts.dialect,
    rateLimit: facts.rateLimit,
    nowMs: () => clock.wall(),
    clockOffset: () => offset,
    async advance(ms) {
      await link.run(advanceScript, [keys.service], [ms, keys.asks]);
      await settle();
    },
    async forgetAll() {
      await bus.ask('forget', null);
    },
  });

  return {
    instance,
    number,
    secrets,
    faults: readFaults(JSON.parse(faults)),
    baseClock: time.clock,
    clock,
    ask: bus.ask,
    publish: bus.publish,
    state,
    async changeFaults(how, args) {
      const [, result] = await link.run(faultsScript, [keys.service], [keys.asks, how, ...args]);
      await settle();
      return Number(result);
    },
    async attach(to) {
      member = to;
      for (const why of warnings) to.emit({ type: 'shared-warning', why });
      await bus.join(connection);
      if (closed) return;
      beat();
      timer = repeat(systemClock, pulseEveryMs, beat);
    },
    async close() {
      closed = true;
      timer?.cancel();
      if (link.isUp) {
        await journal.flush().catch(ignoreAway);
        await link.run(leaveScript, [keys.service, keys.instances], [instance]).catch(ignoreAway);
      }
      link.close();
    },
  };
}

function readFaults(value: unknown): SharedFault[] {
  if (!Array.isArray(value)) return [];
  return (value as [number, string][]).map(([id, text]) => ({
    id: Number(id),
    fault: checkFault(JSON.parse(text)),
  }));
}

/** How far the clock of the service is ahead, milliseconds. Throws where it is no such number. */
function readOffset(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value < maxOffsetMs) return value;
  throw new RangeError('This is not a time by which a clock is moved');
}

/** The time of day of Redis, estimated on this machine. */
interface RedisTime {
  /** The machine's clock, with the time of day of Redis. */
  readonly clock: Clock;
  /** Asks Redis for its time. */
  measure(connection: RedisConnection): Promise<void>;
}

/** A difference below this is taken for delay on the way, milliseconds. */
const smallestMs = 2;
const samples = 3;

function createRedisTime(base: Clock): RedisTime {
  let aheadMs = 0;
  const sample = async (connection: RedisConnection) => {
    const sentAt = base.now();
    const wall = base.wall();
    const [, real] = await connection.run(timeScript, [], []);
    const tripMs = base.now() - sentAt;
    return { tripMs, aheadMs: Number(real) - (wall + tripMs / 2) };
  };
  return {
    clock: { now: base.now, after: base.after, wall: () => base.wall() + aheadMs },
    async measure(connection) {
      let best = await sample(connection);
      for (let taken = 1; taken < samples; taken += 1) {
        const next = await sample(connection);
        if (next.tripMs < best.tripMs) best = next;
      }
      // A clock may have been set: follow a difference that is larger than the error of the measurement.
      if (Math.abs(best.aheadMs - aheadMs) > Math.max(smallestMs, best.tripMs)) aheadMs = best.aheadMs;
    },
  };
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

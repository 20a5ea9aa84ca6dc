import { assemble, createEvents, initialFaults } from '../emulator/assemble.ts';
import type { RunningService } from '../emulator/event-watch.ts';
import type { EmulatorOptions } from '../emulator/options.ts';
import { type SettledOptions, settleOptions } from '../emulator/settle-options.ts';
import { createTokenAuthority, type TokenAuthority } from '../emulator/tokens/token-authority.ts';
import { atTurnEnd, systemClock } from '../kernel/clock.ts';
import type { EmulatorState, StreamSelector } from '../protocol/control.ts';
import { emulatorRefusal, type Fault } from '../protocol/faults.ts';
import { createControl } from '../service/control/control.ts';
import type { AnyControl } from '../service/control/emulator-control.ts';
import { createStreamActions, type StreamActions } from '../service/control/stream-actions.ts';
import { checkFault, createFaults, type Faults } from '../service/faults/faults.ts';
import { createRandom } from '../service/random.ts';
import type { Eventually } from '../service/state/state.ts';
import { withKey } from './redis/identity.ts';
import { checkUrl } from './redis/join-service.ts';
import { openSharedService, type SharedService } from './redis/shared-service.ts';

export interface SharedOptions {
  /** `redis://` or, with TLS, `rediss://`: `redis://USER:PASSWORD@HOST:PORT/NUMBER`. */
  url: string;
  /** Emulators with the same prefix are one service. Default `voicectl`. */
  prefix?: string;
}

/** One of several emulators that are one service. Its control acts on all of them. */
export interface SharedEmulator extends RunningService {
  readonly control: AnyControl;
  /** Name of this emulator in the events. */
  readonly instance: string;
  /**
   * Every request to the control API needs this secret. All emulators of the service have the same one. It changes if Redis
   * has lost its data and another emulator has started before this one came back.
   */
  readonly controlSecret: string;
}

/** An emulator counts its streams from its own number times this, so that each number is used once in the service. */
const streamsPerEmulator = 10_000_000;
const firstStreamOf = (number: number) => number * streamsPerEmulator + 1;
/** How far the time of day may differ between emulators that follow the same Redis. */
const clockErrorMs = 1_000;

/**
 * Starts an emulator that is one service with all others that share a Redis: one rate window, one count of connections,
 * single-use tokens, one key, clock and journal. Throws what `createEmulator` throws, `connect-failed` if Redis cannot be
 * reached, `tls-failed`, and `bad-config` if Redis refuses the password or the others run with other settings.
 */
export async function createSharedEmulator(
  options: EmulatorOptions,
  { url, prefix = 'voicectl' }: SharedOptions,
): Promise<SharedEmulator> {
  const settled = await settleOptions(options);
  checkUrl(url);
  const { rateLimit, maxConnections } = settled;
  const initial = initialFaults(options, settled).map((input) => checkFault(input, emulatorRefusal));
  const shared = await openSharedService({
    ...{ url, prefix },
    base: options.clock ?? systemClock,
    facts: {
      ...{ rateLimit, maxConnections },
      dialect: settled.dialect,
      controlSecret: options.controlSecret,
      faults: initial,
    },
  });
  try {
    return await startMember({ options, settled, shared, initial });
  } catch (thrown) {
    await shared.close();
    throw thrown;
  }
}

interface MemberOptions {
  options: EmulatorOptions;
  settled: SettledOptions;
  shared: SharedService;
  /** The initial faults. */
  initial: readonly Fault[];
}

/** Faults that a scenario adds strike on its own emulator alone. No fault of the service, and none of another emulator, has their numbers. */
const firstOwnFault = 1_000_000_000;
const ownFaultsPerEmulator = 1_000_000;

/** An event never contains a secret, but the emulator that made the new one has printed it. */
const newControlSecret =
  'The control secret has changed, because Redis had lost its data when another emulator started: use the one that it printed';

async function startMember({ options, settled, shared, initial }: MemberOptions): Promise<SharedEmulator> {
  const { rateLimit, maxConnections } = settled;
  const { id, number, baseClock, clock, state } = shared;
  const instance = () => shared.instance;
  const events = createEvents({ options, baseClock, clock, journal: state.journal, instance });
  const random = createRandom(options.seed === undefined ? undefined : options.seed + number);
  let controlSecret = shared.secrets.control;
  const { authority, replaceSecrets } = await createRenewableAuthority(shared.secrets, (secrets) =>
    createTokenAuthority({
      ...{ clock, random, clockErrorMs },
      settings: withKey(settled.dialect.token, secrets),
    }),
  );
  const strikes = countStrikes((struck) => shared.publish('struck', { struck, by: id }));
  const firstId = firstOwnFault + number * ownFaultsPerEmulator + 1;
  const faults = createFaults({ initial: [], random, events, firstId, onStruck: strikes });
  faults.sync(shared.faults);
  const service = assemble({
    ...{ options, settled, baseClock, clock, state, events, random, authority, faults },
    streamTap: options.tap,
    firstStream: firstStreamOf(number),
    leave: shared.close,
  });
  const own = createStreamActions({ voice: service.voice, dialect: settled.dialect });
  const control = createControl({
    ...{ events, clock, state, rateLimit, maxConnections },
    acceptKeys: options.acceptKeys,
    faults: faultsOfAll({ faults, shared, initial }),
    streams: streamsOfAll(shared.ask),
    flushFloods: events.flush,
  });
  await shared.attach({
    emit: events.emit,
    syncFaults: faults.sync,
    async replaceSecrets(secrets) {
      await replaceSecrets(secrets);
      if (secrets.control === controlSecret) return;
      controlSecret = secrets.control;
      events.emit({ type: 'shared-warning', why: newControlSecret });
    },
    forget: service.token.forget,
    renumber: (taken) => service.voice.countFrom(firstStreamOf(taken)),
    perform({ op, args }) {
      if (op === 'struck') {
        const { struck, by } = args as { struck: [id: number, strikes: number][]; by: string };
        if (by !== id) for (const [id, count] of struck) faults.countStrikes(id, count);
        return true;
      }
      if (op === clearOwnFaults) return clearOwn(faults, args);
      return performOnStreams(own, op, args);
    },
  });
  const running = await service.open({
    control,
    secret: () => controlSecret,
    trustsThisMachine: false,
    allowHosts: settled.allowHosts,
    instance,
  });
  return {
    ...running,
    control,
    get controlSecret() {
      return controlSecret;
    },
    get instance() {
      return shared.instance;
    },
  };
}

/** An authority that signs and verifies with other secrets after each `replaceSecrets`. */
async function createRenewableAuthority<Secrets>(
  first: Secrets,
  make: (secrets: Secrets) => Promise<TokenAuthority>,
): Promise<{ authority: TokenAuthority; replaceSecrets(secrets: Secrets): Promise<void> }> {
  let current = await make(first);
  return {
    authority: {
      issue: (device, wrong) => current.issue(device, wrong),
      verify: (token) => current.verify(token),
    },
    async replaceSecrets(secrets) {
      current = await make(secrets);
    },
  };
}

/** Collects the strikes of one iteration of the event loop, and reports them together. */
function countStrikes(publish: (struck: [id: number, strikes: number][]) => void): (id: number) => void {
  const struck = new Map<number, number>();
  return (id) => {
    if (struck.size === 0) {
      atTurnEnd((all) => {
        publish([...all]);
        all.clear();
      }, struck);
    }
    struck.set(id, (struck.get(id) ?? 0) + 1);
  };
}

interface FaultsOfAllOptions extends Pick<MemberOptions, 'shared' | 'initial'> {
  /** The faults of this emulator. They follow those in Redis. */
  faults: Faults;
}

/** Asks each emulator to remove the faults that its scenario added. */
const clearOwnFaults = 'clear-own-faults';

/** The faults of all emulators of a service: the same ones, under the same numbers, and those that this one's scenario added. */
function faultsOfAll({
  faults,
  shared,
  initial,
}: FaultsOfAllOptions): Eventually<Pick<Faults, 'add' | 'list' | 'clear' | 'reset'>> {
  const clearOwnOfAll = async (id: number | null = null) =>
    (await shared.ask(clearOwnFaults, id)).map(Number).filter(Number.isSafeInteger);
  return {
    list: faults.list,
    async add(input) {
      const fault = checkFault(input, emulatorRefusal);
      const id = await shared.changeFaults('add', [JSON.stringify(fault)]);
      return faults.list().find((one) => one.id === id) ?? { id, fault, struck: 0 };
    },
    async clear(id) {
      const cleared = await shared.changeFaults('clear', [id === undefined ? 'all' : String(id)]);
      return (await clearOwnOfAll(id)).reduce((sum, own) => sum + own, cleared);
    },
    async reset() {
      await shared.changeFaults(
        'replace',
        initial.map((fault) => JSON.stringify(fault)),
      );
      await clearOwnOfAll();
    },
  };
}

/** Removes the faults that the scenario of this emulator added: one, or all without a number. Returns how many. */
function clearOwn(faults: Faults, id: unknown): number {
  const own = faults.list().filter((one) => one.id >= firstOwnFault && (id === null || one.id === id));
  return own.reduce((sum, one) => sum + faults.clear(one.id), 0);
}

/** Acts on the streams of all emulators of a service. PCM passes as base64. */
function streamsOfAll(ask: SharedService['ask']): Eventually<StreamActions> {
  const gather = async <Item>(op: keyof StreamActions, args: unknown[]): Promise<Item[]> =>
    ((await ask(op, args)) as Item[][]).filter(Array.isArray).flat();
  return {
    list: async () => {
      const streams = await gather<EmulatorState['streams'][number]>('list', []);
      return streams.sort((one, other) => one.stream - other.stream);
    },
    send: (...args) => gather('send', args),
    speak: (selector, pcm) => gather('speak', [selector, pcm.toString('base64')]),
    event: (...args) => gather('event', args),
    close: (...args) => gather('close', args),
  };
}

/** Does on this emulator's streams what another emulator asked. */
function performOnStreams(own: StreamActions, op: string, args: unknown): unknown {
  const speak = (selector: StreamSelector, pcm: string) => own.speak(selector, Buffer.from(pcm, 'base64'));
  const actions = new Map<string, (...given: never[]) => unknown>(Object.entries({ ...own, speak }));
  const action = actions.get(op);
  if (action === undefined) return true;
  if (!Array.isArray(args)) throw new TypeError('The arguments are not a list');
  return action(...(args as never[]));
}

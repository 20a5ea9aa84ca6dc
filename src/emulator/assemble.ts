import type { Clock, MovableClock } from '../kernel/clock.ts';
import { createRedactor } from '../kernel/redact.ts';
import { createSecretIndex } from '../kernel/secret-index.ts';
import type { FaultInput } from '../protocol/faults.ts';
import { concealKeys } from '../service/conceal-keys.ts';
import { createEmulatorEvents } from '../service/events.ts';
import type { Faults } from '../service/faults/faults.ts';
import { type FoldedEvents, foldFloods } from '../service/fold-floods.ts';
import { type OpenServiceOptions, openService } from '../service/open-service.ts';
import type { Random } from '../service/random.ts';
import type { State, StateJournal } from '../service/state/state.ts';
import { createPulse } from '../wire/pulse.ts';
import type { Tap } from '../wire/tap.ts';
import { createEventWatch, type RunningService } from './event-watch.ts';
import { createHttpServer } from './http/http-server.ts';
import type { EmulatorOptions } from './options.ts';
import type { SettledOptions } from './settle-options.ts';
import { createVoiceEndpoint, type VoiceEndpoint } from './streams/voice-endpoint.ts';
import type { TokenAuthority } from './tokens/token-authority.ts';
import { createAcceptedKeys, createTokenEndpoint, type TokenEndpoint } from './tokens/token-endpoint.ts';

export interface ServiceParts {
  options: EmulatorOptions;
  settled: SettledOptions;
  /** The clock of the machine. */
  baseClock: Clock;
  /** The clock of the service, which can be moved forward. */
  clock: MovableClock;
  state: State;
  events: FoldedEvents;
  random: Random;
  authority: TokenAuthority;
  faults: Faults;
  /** Gives a tap for each stream, by its number. */
  streamTap: ((stream: number) => Tap | undefined) | undefined;
  /** Number of the first stream. Default 1. */
  firstStream?: number;
  /** Called when no stream is open any more: leaves the shared service. */
  leave?: () => Promise<void>;
}

export interface AssembledService {
  readonly voice: VoiceEndpoint;
  readonly token: TokenEndpoint;
  /** Starts to listen. Throws `usage` and `port-in-use`. */
  open(
    control: Pick<OpenServiceOptions, 'control' | 'secret' | 'trustsThisMachine' | 'instance'> & {
      /** Host names besides loopback under which the control API answers. */
      allowHosts?: readonly string[];
    },
  ): Promise<RunningService>;
}

/** The events of an emulator. The journal and `onEvent` receive them. `instance`: its name, if several are one service. */
export function createEvents({
  options,
  baseClock,
  clock,
  journal,
  instance,
}: Pick<ServiceParts, 'options' | 'baseClock' | 'clock'> & {
  journal: Pick<StateJournal, 'add'>;
  instance?: () => string;
}): FoldedEvents {
  const all = createEmulatorEvents(() => clock.now(), instance);
  const events = foldFloods(concealKeys(all, options.acceptKeys ?? []), baseClock);
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  events.subscribe(journal.add);
  return events;
}

/** The faults of the scenario and of the options. */
export function initialFaults(
  { faults = [] }: EmulatorOptions,
  { scenario }: SettledOptions,
): (FaultInput | string)[] {
  return [...(scenario?.faults ?? []), ...faults];
}

/** Builds the service on a state: token endpoint, voice stream, HTTP server. */
export function assemble(parts: ServiceParts): AssembledService {
  const { options, settled, clock, baseClock, state, events, random, authority, faults } = parts;
  const { host, port, acceptKeys, dialect, scenario, tls, rateLimit, maxConnections } = settled;
  const gone = new AbortController();
  const watch = createEventWatch(events, state.journal, { closed: gone.signal, clock: baseClock });
  const createReply = scenario?.replyModeFor(faults, settled.reply) ?? settled.reply;
  const pulse = createPulse({ clock: baseClock, periodMs: dialect.stream.replyFrameMs });
  const accepts = createAcceptedKeys(acceptKeys);
  const token = createTokenEndpoint({ clock, dialect, events, authority, faults, state, rateLimit, accepts });
  const keys = createSecretIndex(acceptKeys);
  const voice = createVoiceEndpoint({
    ...{ clock, baseClock, dialect, events, random, maxConnections },
    ...{ authority, state, pulse, faults, createReply },
    keys,
    pingEveryMs: options.pingEveryMs,
    tap: parts.streamTap,
    firstStream: parts.firstStream,
  });

  return {
    voice,
    token,
    async open(control) {
      const opened = await openService({
        ...{ host, port, tls, events, faults, random, clock, baseClock },
        ...{ page: options.page, observe: voice.observe, metrics: options.metrics, command: 'serve' },
        open: voice.totals,
        redact: createRedactor(keys).text,
        ...control,
        createServer: (made) =>
          createHttpServer({
            ...{ dialect, events, token, voice, tls, clock, keys },
            ...made,
            admission: { ...settled, boundAddresses: true, links: true },
            controlHosts: control.allowHosts ?? [],
            tap: options.tap,
          }),
        async endStreams() {
          await voice.close();
          // A request that a fault delays would be answered after the end.
          token.forget();
          pulse.close();
        },
        async leave() {
          await parts.leave?.();
          gone.abort();
        },
      });
      return { ...opened, ...watch };
    },
  };
}

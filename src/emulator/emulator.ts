import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, createMovableClock, systemClock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { version } from '../kernel/version.ts';
import { type DialectInput, parseDialect } from '../protocol/dialect.ts';
import type { FaultInput } from '../protocol/faults.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { connectionsPerDevice, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import { createTicker } from '../wire/pulse.ts';
import { type Addresses, addressesOf } from '../wire/server/addresses.ts';
import { certificateNames, checkCertificate, type TlsCertificate } from '../wire/server/certificate.ts';
import { createControl } from './control/control.ts';
import { createControlApi } from './control/control-api.ts';
import type { EmulatorControl } from './control/emulator-control.ts';
import { createEventWatch, type EventWatch } from './event-watch.ts';
import { createEmulatorEvents, type EmulatorListener } from './events.ts';
import { createFaults } from './faults/faults.ts';
import { createUpgradeFaults } from './faults/upgrade-faults.ts';
import { createHttpServer } from './http/http-server.ts';
import { createRandom } from './random.ts';
import { createReplyMode } from './replies/registry.ts';
import type { Scenario } from './scenario/scenario.ts';
import { createMemoryState } from './state/memory.ts';
import { createVoiceEndpoint } from './streams/voice-endpoint.ts';
import { createAcceptedKeys } from './tokens/accepted-keys.ts';
import { createTokenAuthority } from './tokens/token-authority.ts';
import { createTokenEndpoint } from './tokens/token-endpoint.ts';

export interface EmulatorOptions {
  /** Address to listen on; anything but loopback needs `acceptKeys`. Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free port. */
  port?: number;
  /** API keys that are accepted; none given: any non-empty one. */
  acceptKeys?: readonly string[];
  /** A reply mode, as on the command line. Default `parrot`. */
  reply?: string;
  /** How fast `replay:` says a recording again: 2 is twice as fast. Default 1. */
  replaySpeed?: number | undefined;
  /** Choices that the specification leaves open; whatever is left out has its default. */
  dialect?: DialectInput;
  /** Token requests per device and minute. Default 60. */
  rateLimit?: number;
  /** Connections per device. Default 10. */
  maxConnections?: number;
  /** Makes the emulator's own choices, such as `jti`, the same in each run. */
  seed?: number;
  allowHosts?: readonly string[];
  allowOrigins?: readonly string[];
  /** HTTPS and WSS: with a certificate of one's own, or with `true` one that is made for it, signed by nobody else. */
  tls?: boolean | TlsCertificate;
  /** Bearer secret of the control API beyond loopback; without one nobody gets in from outside this process. */
  controlSecret?: string | undefined;
  /** Time of the whole emulator, for tests. */
  clock?: Clock;
  /** Called for each event, from the first. */
  onEvent?: EmulatorListener;
  /** Faults from the start: `NAME:key=value,…` or objects. */
  faults?: readonly (FaultInput | string)[];
  /** Plays on each stream; where it has no steps, `reply` speaks. */
  scenario?: Scenario;
}

/** A running emulator of the token endpoint and the voice stream. */
export interface Emulator extends Readonly<Addresses>, EventWatch {
  readonly port: number;
  /** Where other machines find it, if it listens on all addresses of this one. */
  readonly lan: readonly Addresses[];
  /** With TLS, the PEM of what clients have to trust. */
  readonly certificate: string | undefined;
  readonly control: EmulatorControl;
  /** Stops accepting, closes each stream with 1001, and resolves when all are gone. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts an emulator of the whole service. Throws `VoicectlError`: `bad-dialect`, `usage` (unknown
 * reply mode, an address that is not ours), `bad-input` (a reply file that is no WAV, a certificate without its key),
 * `host-exposed`, `port-in-use`.
 */
export async function createEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { host = '127.0.0.1', port = 0, acceptKeys = [] } = options;
  const { rateLimit = tokenRequestsPerWindow, maxConnections = connectionsPerDevice } = options;
  if (!isLoopbackHost(host) && acceptKeys.length === 0) {
    throw new VoicectlError('host-exposed', `Refusing to listen on ${host} with any API key accepted`, {
      hint: 'Give the keys to accept with --accept-key or --accept-key-file.',
    });
  }
  const dialect = checkDialect(options.dialect);
  const replyMode = await createReplyMode(options.reply ?? 'parrot', options);
  const tls = await prepareTls(options.tls, () => certificateNames(host, options.allowHosts ?? []));
  const baseClock = options.clock ?? systemClock;
  const clock = createMovableClock(baseClock);
  const events = createEmulatorEvents(() => clock.now());
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const state = createMemoryState({ clock, dialect, rateLimit, maxConnections });
  events.subscribe(state.journal.add);
  const gone = new AbortController();
  const watch = createEventWatch(events, state.journal, gone.signal);

  const random = createRandom(options.seed);
  const authority = await createTokenAuthority({ clock, random, settings: dialect.token });
  const { scenario } = options;
  const initialFaults = [...(scenario?.faults ?? []), ...(options.faults ?? [])];
  const faults = createFaults({ initial: initialFaults, random, events });
  const createReply = scenario?.cast(faults, replyMode) ?? replyMode;
  const ticker = createTicker({ clock: baseClock, periodMs: dialect.stream.replyFrameMs });
  const accepts = createAcceptedKeys(acceptKeys);
  const token = createTokenEndpoint({ clock, dialect, events, authority, faults, state, rateLimit, accepts });
  const voice = createVoiceEndpoint({
    clock,
    baseClock,
    dialect,
    events,
    random,
    maxConnections,
    authority,
    state,
    ticker,
    faults,
    createReply,
  });
  const control = createControl({
    clock,
    dialect,
    state,
    rateLimit,
    maxConnections,
    faults,
    voice,
  });
  const { allowHosts = [], allowOrigins = [] } = options;
  const controlSecret = isLoopbackHost(host)
    ? undefined
    : (options.controlSecret ?? randomBytes(24).toString('base64url'));
  const upgradeFaults = createUpgradeFaults(faults, clock);
  const server = createHttpServer({
    dialect,
    events,
    admission: { allowHosts, allowOrigins, boundAddresses: true },
    token,
    voice,
    faults: upgradeFaults,
    control: createControlApi({ control, secret: controlSecret }),
    tls,
  });

  const address = await listen(server, host, port).catch(async (thrown) => {
    await voice.close();
    throw thrown;
  });
  const { baseUrl, wsUrl, lan } = addressesOf(address, tls === undefined ? 'http' : 'https');
  events.emit({ type: 'listening', version, baseUrl, wsUrl, ...(lan.length === 0 ? {} : { lan }) });

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      events.emit({ type: 'stopping' });
      const stopped = new Promise((resolve) => server.close(resolve));
      await voice.close();
      upgradeFaults.close();
      ticker.close();
      server.closeAllConnections();
      await stopped;
      gone.abort();
    })();
    return closed;
  };
  return {
    baseUrl,
    wsUrl,
    lan,
    port: address.port,
    certificate: tls?.cert,
    control,
    ...watch,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function checkDialect(input: DialectInput | undefined) {
  const parsed = parseDialect(input ?? {});
  if (parsed.ok) return parsed.dialect;
  const [first] = parsed.problems;
  const text =
    first === undefined ? '' : `${first.path} is ${JSON.stringify(first.value)}, expected ${first.expected}`;
  throw new VoicectlError('bad-dialect', `Invalid dialect: ${text}`, {
    details: { problems: parsed.problems },
  });
}

async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen({ host, port }, resolve);
  });
  // Running out of descriptors makes an accept fail; those that are open go on.
  server.on('error', () => {});
  return server.address() as AddressInfo;
}

async function prepareTls(
  tls: boolean | TlsCertificate | undefined,
  names: () => string[],
): Promise<TlsCertificate | undefined> {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) {
    const { createCertificate } = await import('../wire/server/self-signed.ts');
    return createCertificate(names());
  }
  checkCertificate(tls);
  return tls;
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): VoicectlError {
  if (cause.code === 'EADDRINUSE') {
    return new VoicectlError('port-in-use', `Port ${port} on ${host} is taken`, {
      hint: 'Choose another with --port, or let the system choose with --port 0.',
      cause,
    });
  }
  return new VoicectlError('usage', `Cannot listen on ${host}:${port}: ${cause.message}`, { cause });
}

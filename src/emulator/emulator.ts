import { randomBytes } from 'node:crypto';
import { createMovableClock, systemClock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { version } from '../kernel/version.ts';
import type { StreamSelector } from '../protocol/control.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { createPulse } from '../wire/pulse.ts';
import { type Addresses, addressesOf } from '../wire/server/addresses.ts';
import { joinTaps } from '../wire/tap.ts';
import { createControl } from './control/control.ts';
import { createControlApi } from './control/control-api.ts';
import type { EmulatorControl } from './control/emulator-control.ts';
import { createEventWatch, type EventWatch } from './event-watch.ts';
import { createEmulatorEvents } from './events.ts';
import { createFaults } from './faults/faults.ts';
import { createUpgradeFaults } from './faults/upgrade-faults.ts';
import { foldFloods } from './fold-floods.ts';
import { createHttpServer } from './http/http-server.ts';
import { listen } from './http/listen.ts';
import { createKeptAudio, type KeptAudio, type KeptStream } from './kept-audio.ts';
import type { EmulatorOptions } from './options.ts';
import { createRandom } from './random.ts';
import { settleOptions } from './settle-options.ts';
import { createMemoryState } from './state/memory.ts';
import { createVoiceEndpoint } from './streams/voice-endpoint.ts';
import { createAcceptedKeys } from './tokens/accepted-keys.ts';
import { createTokenAuthority } from './tokens/token-authority.ts';
import { createTokenEndpoint } from './tokens/token-endpoint.ts';

/** A running emulator of the token endpoint and the voice stream. */
export interface Emulator extends Readonly<Addresses>, EventWatch {
  readonly port: number;
  /** Addresses for other machines, if the emulator listens on all interfaces. */
  readonly lan: readonly Addresses[];
  /** With TLS: the certificate that clients have to trust, as PEM. */
  readonly certificate: string | undefined;
  readonly control: EmulatorControl;
  /**
   * The newest stream that the selector means, open or ended, with what its device sent. Needs the option `keepAudio`.
   * Throws `usage` without it, and if there is no such stream.
   */
  stream(selector?: Partial<StreamSelector>): KeptStream;
  /** Stops accepting, closes each stream with 1001, and resolves when all streams have ended. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts an emulator of the whole service. Throws `VoicectlError`: `bad-dialect`, `usage` (unknown
 * reply mode, an address that is not ours), `bad-input` (a reply file that is no WAV, a certificate without its key),
 * `host-exposed`, `port-in-use`.
 */
export async function createEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settled = await settleOptions(options);
  const { host, port, acceptKeys, dialect, scenario, tls, rateLimit, maxConnections } = settled;
  const baseClock = options.clock ?? systemClock;
  const clock = createMovableClock(baseClock);
  const events = foldFloods(
    createEmulatorEvents(() => clock.now()),
    baseClock,
  );
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const state = createMemoryState({ clock, dialect, rateLimit, maxConnections });
  events.subscribe(state.journal.add);
  const gone = new AbortController();
  const watch = createEventWatch(events, state.journal, gone.signal);

  const random = createRandom(options.seed);
  const authority = await createTokenAuthority({ clock, random, settings: dialect.token });
  const initialFaults = [...(scenario?.faults ?? []), ...(options.faults ?? [])];
  const faults = createFaults({ initial: initialFaults, random, events });
  const createReply = scenario?.cast(faults, settled.reply) ?? settled.reply;
  const pulse = createPulse({ clock: baseClock, periodMs: dialect.stream.replyFrameMs });
  const kept = options.keepAudio === true ? createKeptAudio(events) : undefined;
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
    pulse,
    faults,
    createReply,
    tap: kept === undefined ? options.tap : (stream) => joinTaps(options.tap?.(stream), kept.tap(stream)),
  });
  const control = createControl({
    events,
    clock,
    dialect,
    state,
    rateLimit,
    maxConnections,
    faults,
    voice,
    tellFloods: events.flush,
    forget: kept?.clear,
  });
  const controlSecret = options.controlSecret ?? randomBytes(24).toString('base64url');
  const upgradeFaults = createUpgradeFaults(faults, clock);
  const server = createHttpServer({
    dialect,
    events,
    admission: { ...settled, boundAddresses: true, links: true },
    token,
    voice,
    faults: upgradeFaults,
    control: createControlApi({ control, secret: controlSecret, trustsThisMachine: isLoopbackHost(host) }),
    tls,
    clock,
    tap: options.tap,
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
      pulse.close();
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
    stream: (selector = {}) => findStream(kept, selector),
    ...watch,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function findStream(kept: KeptAudio | undefined, selector: Partial<StreamSelector>): KeptStream {
  if (kept !== undefined) return kept.find(selector);
  throw new VoicectlError('usage', 'The audio of devices is not kept', {
    hint: 'Start the emulator with { keepAudio: true }.',
  });
}

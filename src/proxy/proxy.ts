import { randomBytes } from 'node:crypto';
import { createMovableClock, systemClock } from '../kernel/clock.ts';
import { isLoopbackHost } from '../protocol/loopback.ts';
import { connectionsPerDevice, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import { createControl } from '../service/control/control.ts';
import type { EmulatorControl } from '../service/control/emulator-control.ts';
import { loadControlApi } from '../service/control/load-control-api.ts';
import { createStreamActions } from '../service/control/stream-actions.ts';
import { createEmulatorEvents } from '../service/events.ts';
import { createFaults } from '../service/faults/faults.ts';
import { createUpgradeFaults } from '../service/faults/upgrade-faults.ts';
import { foldFloods } from '../service/fold-floods.ts';
import { type OpenServer, openServer } from '../service/http/open-server.ts';
import { createRandom } from '../service/random.ts';
import { createMemoryState } from '../service/state/memory.ts';
import { createPulse } from '../wire/pulse.ts';
import { joinTaps } from '../wire/tap.ts';
import { createFront } from './front.ts';
import { createJudge } from './judge.ts';
import type { JudgementCounts } from './judgement-book.ts';
import { createTokenMatches } from './match-tokens.ts';
import type { ProxyOptions } from './options.ts';
import { nameSides } from './proxy-events.ts';
import { openRecordings } from './recordings.ts';
import { createSecrets } from './secrets.ts';
import { settleProxy } from './settle-options.ts';
import { createProxiedStreams } from './streams.ts';
import { createTokenRequests } from './token-requests.ts';

/** A running proxy between devices and one service. */
export interface ServiceProxy extends Readonly<OpenServer> {
  readonly control: EmulatorControl;
  /** What was found against both sides so far. */
  judged(): JudgementCounts;
  /** Stops accepting, closes both sides of each stream with 1001, and resolves when all have ended. */
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of one service. Throws `VoicectlError`: `host-exposed`, `insecure-target`, `bad-dialect`,
 * `bad-input` (a certificate without its key), `usage` (a wrong fault, an address that is not ours), `port-in-use`.
 */
export async function createProxy(options: ProxyOptions): Promise<ServiceProxy> {
  const settled = await settleProxy(options);
  const { host, port, dialect, tls, answerMs, isStrict } = settled;
  const { target, tap } = options;
  const baseClock = options.clock ?? systemClock;
  const clock = createMovableClock(baseClock);
  const folded = foldFloods(
    createEmulatorEvents(() => clock.now()),
    baseClock,
  );
  if (options.onEvent !== undefined) folded.subscribe(options.onEvent);
  const events = nameSides(folded);
  const [rateLimit, maxConnections] = [tokenRequestsPerWindow, connectionsPerDevice];
  const state = createMemoryState({ clock, dialect, rateLimit, maxConnections });
  folded.subscribe(state.journal.add);
  const random = createRandom(options.seed);
  const faults = createFaults({ initial: options.faults ?? [], random, events });
  const secrets = createSecrets();
  const judge = createJudge({ clock: baseClock, events, isStrict });
  const matches = createTokenMatches();
  const pulse = createPulse({ clock: baseClock, periodMs: dialect.stream.replyFrameMs });
  const deadlines = { clock: baseClock, answerMs };
  const shared = {
    target,
    deadlines,
    clock,
    baseClock,
    dialect,
    random,
    events,
    secrets,
    judge,
    matches,
    faults,
    pulse,
  };
  const recordings =
    options.record === undefined
      ? undefined
      : await openRecordings(options.record, { target, clock: baseClock, matches, events });
  const streams = createProxiedStreams({
    leaseSlot: state.leaseSlot,
    ...shared,
    tap: recordings === undefined ? tap : (stream) => joinTaps(recordings.tap(stream), tap?.(stream)),
    onEnded: recordings?.ended,
  });
  const pass = createTokenRequests({ ...shared, clock: baseClock, ca: target.ca, state });
  const control = createControl({
    ...{ events, clock, state, rateLimit, maxConnections, faults },
    streams: createStreamActions({ voice: streams, dialect }),
    tellFloods: folded.flush,
  });
  const startedAt = baseClock.now();
  const page = options.page?.({
    control,
    clock: baseClock,
    elapsedMs: () => baseClock.now() - startedAt,
    observe: streams.observe,
  });
  const upgradeFaults = createUpgradeFaults(faults, clock);
  const secret = options.controlSecret ?? randomBytes(24).toString('base64url');
  const server = createFront({
    ...{ target, dialect, events, tls, pass, streams, faults: upgradeFaults },
    admission: { ...settled, boundAddresses: true, links: true },
    control: loadControlApi({
      control,
      secret,
      page,
      trustsThisMachine: isLoopbackHost(host),
      isSecure: tls !== undefined,
    }),
  });
  const opened = await openServer({
    ...{ server, host, port, tls, events, faults },
    network: { clock: baseClock, random },
    async endStreams() {
      await streams.close();
      await page?.close();
      upgradeFaults.close();
      judge.close();
      pulse.close();
    },
    leave: async () => recordings?.close(),
  });
  return { ...opened, control, judged: judge.counts };
}

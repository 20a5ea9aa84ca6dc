import type { ServerResponse } from 'node:http';
import { ListenerBudget } from '../audio/verdict/listener-budget.ts';
import { createMovableClock, systemClock } from '../kernel/clock.ts';
import { VoicectlError } from '../kernel/errors.ts';
import { concealUrl } from '../kernel/secret-fields.ts';
import { proxyRefusal } from '../protocol/faults.ts';
import { isLoopbackHost, isSafeTransport } from '../protocol/loopback.ts';
import { serviceUrl } from '../protocol/paths.ts';
import { connectionsPerDevice, tokenRequestsPerWindow } from '../protocol/rate-limit.ts';
import { createControl } from '../service/control/control.ts';
import type { EmulatorControl } from '../service/control/emulator-control.ts';
import { createStreamActions } from '../service/control/stream-actions.ts';
import { createEmulatorEvents } from '../service/events.ts';
import { checkFault, createFaults } from '../service/faults/faults.ts';
import { foldFloods } from '../service/fold-floods.ts';
import { refuseRequest } from '../service/http/refusal.ts';
import {
  type AdmittedRequest,
  createServiceServer,
  type RequestOutcome,
} from '../service/http/service-server.ts';
import { type OpenService, openService } from '../service/open-service.ts';
import { createRandom } from '../service/random.ts';
import { checkDialect, defaultHost, settleService } from '../service/settings.ts';
import { createMemoryState } from '../service/state/memory.ts';
import { createOwnLateness } from '../service/streams/lost-time.ts';
import { createPulse } from '../wire/pulse.ts';
import { type RequestTarget, readRequestBody } from '../wire/server/http-request.ts';
import { UnfinishedMessages } from '../wire/server/unfinished.ts';
import { joinTaps } from '../wire/tap.ts';
import { createProxyJudge, type JudgementCounts } from './judge.ts';
import { createTokenMatches } from './match-tokens.ts';
import type { ProxyOptions, ProxyTarget } from './options.ts';
import { WaitingBytes } from './passage.ts';
import { nameSides } from './proxy-events.ts';
import { openRecordings } from './recordings.ts';
import { createSecrets } from './secrets.ts';
import { createProxiedStreams } from './streams.ts';
import { createTokenRequests, type PassRequest } from './token-requests.ts';

/** A running proxy between devices and one service. */
export interface ServiceProxy extends Readonly<OpenService> {
  readonly control: EmulatorControl;
  /** How many violations and remarks both sides have so far. */
  judged(): JudgementCounts;
}

/**
 * Starts a proxy in front of one service. Throws `VoicectlError`: `host-exposed`, `insecure-target`, `bad-dialect`,
 * `bad-input` (a certificate without its key), `usage` (a wrong fault, an address that is not local), `port-in-use`.
 */
export async function createProxy(options: ProxyOptions): Promise<ServiceProxy> {
  checkProxy(options);
  const settled = await settleService(options);
  const { host, port, dialect, tls } = settled;
  const { target, tap, answerMs = defaultAnswerMs } = options;
  const baseClock = options.clock ?? systemClock;
  const clock = createMovableClock(baseClock);
  const folded = foldFloods(
    createEmulatorEvents(() => clock.now()),
    baseClock,
  );
  if (options.onEvent !== undefined) folded.subscribe(options.onEvent);
  const secrets = createSecrets();
  const redact = (text: string) => secrets.redactor().text(text);
  const events = nameSides({ ...folded, redact });
  const [rateLimit, maxConnections] = [tokenRequestsPerWindow, connectionsPerDevice];
  const state = createMemoryState({ clock, dialect, rateLimit, maxConnections, maxSpent });
  folded.subscribe(state.journal.add);
  const random = createRandom(options.seed);
  const faults = createFaults({
    initial: options.faults ?? [],
    ...{ random, events, refuses: proxyRefusal },
  });
  const judge = createProxyJudge({ clock: baseClock, events, isStrict: options.dialect !== undefined });
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
      : await openRecordings(options.record, { target, clock: baseClock, matches, events, secrets });
  const streams = createProxiedStreams({
    leaseSlot: state.leaseSlot,
    spendToken: (token) => void state.spendToken(token),
    ...shared,
    evidence: { usedBytes: 0 },
    own: createOwnLateness(baseClock),
    listeners: new ListenerBudget((most) => events.emit({ type: 'voices-unjudged', most })),
    unfinished: new UnfinishedMessages(),
    waiting: new WaitingBytes(),
    tap: recordings === undefined ? tap : (stream) => joinTaps(recordings.tap(stream), tap?.(stream)),
    onEnded: recordings?.ended,
  });
  const pass = createTokenRequests({ ...shared, clock: baseClock, ca: target.ca, state });
  const control = createControl({
    ...{ events, clock, state, rateLimit, maxConnections, faults, isProxy: true },
    streams: createStreamActions({ voice: streams, dialect }),
    flushFloods: folded.flush,
  });
  const opened = await openService({
    ...{ host, port, tls, events, faults, random, clock, baseClock, control },
    ...{ page: options.page, observe: streams.observe, metrics: options.metrics, command: 'proxy' },
    redact,
    open: () => streams.streams().map(({ connection }) => connection.totals),
    secret: options.controlSecret,
    trustsThisMachine: isLoopbackHost(host),
    createServer: (made) =>
      createServiceServer({
        ...{ dialect, tls, ...made },
        events: events.of.device,
        admission: { ...settled, boundAddresses: true, links: true },
        answer: (admitted, response) => passOn(admitted, response, target, pass),
        upgrade: ({ request, target: wanted }, socket, head) => {
          streams.upgrade(request, socket, head, urlOn(target.wsUrl, wanted));
          return undefined;
        },
      }),
    async endStreams() {
      await streams.close();
      judge.close();
      pulse.close();
    },
    leave: async () => recordings?.close(),
  });
  return { ...opened, control, judged: judge.counts };
}

/** Used tokens that are remembered. A service may grant tokens for years: all of them would be kept. */
const maxSpent = 10_000;
/** Far more than any request to the service needs. */
const maxBodyBytes = 1024 * 1024;

async function passOn(
  { request, target: wanted, path, about }: AdmittedRequest,
  response: ServerResponse,
  target: ProxyTarget,
  pass: PassRequest,
): Promise<RequestOutcome> {
  const body = await readRequestBody(request, maxBodyBytes);
  if (body === undefined) return { ...refuseRequest('bodyTooLarge', about), hangUp: true };
  await pass(request, response, { url: urlOn(target.baseUrl, wanted), path, body });
  return 'answered';
}

/** The same path and query on the target. */
function urlOn(base: string, wanted: RequestTarget | undefined): string {
  return serviceUrl(base, wanted?.written ?? '/');
}

const defaultAnswerMs = 10_000;

/**
 * Checks the options that need neither the machine nor the network, before the target is contacted. Throws `host-exposed`
 * for a listener beyond this machine without TLS, `insecure-target` for a target beyond it without TLS, `bad-dialect`, and
 * `usage` for a fault that is wrong, or that a proxy cannot cause.
 */
export function checkProxy(options: ProxyOptions): void {
  const { host = defaultHost, allowPlaintext = false, tls = false, target, faults = [] } = options;
  if (!isLoopbackHost(host) && tls === false && !allowPlaintext)
    throw new VoicectlError(
      'host-exposed',
      `Refusing to listen on ${host} without TLS: keys and tokens would be readable`,
      {
        hint: 'Use --tls, or --allow-plaintext if the network is trusted.',
      },
    );
  for (const url of [target.baseUrl, target.wsUrl]) {
    if (!allowPlaintext && !isSafeTransport(url))
      throw new VoicectlError(
        'insecure-target',
        `Refusing to pass keys and tokens on to ${concealUrl(url)} without TLS`,
        {
          hint: 'Use https and wss, or --allow-plaintext if the network is trusted.',
        },
      );
  }
  for (const fault of faults) checkFault(fault, proxyRefusal);
  checkDialect(options.dialect);
}

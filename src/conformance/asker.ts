import type { Target } from '../config/target.ts';
import type { Redactor } from '../kernel/redact.ts';
import { bytesForMs, defaultFrameMs } from '../protocol/audio-format.ts';
import { type ApiVersion, serviceUrl, streamPath, tokenPath } from '../protocol/paths.ts';
import { jsonMediaType } from '../protocol/token-request.ts';
import type { Seen } from '../rules/rule.ts';
import { ask } from '../wire/client/token.ts';
import type { Header, HttpRequest } from '../wire/exchange.ts';
import { type Budget, NotAsked, type RequestPace } from './budget.ts';
import type { Clockwork } from './clockwork.ts';
import type { Cost } from './cost.ts';
import type { DeviceRole, Devices } from './devices.ts';
import { openLine, type ServiceLine } from './service-line.ts';
import type { StopWatch } from './stop.ts';

/** The address of the service, and the credentials. */
export type ServiceUnderTest = Omit<Target, 'device'>;

/** What every exchange of a run shares. */
export interface RunContext {
  subject: ServiceUnderTest;
  clockwork: Clockwork;
  signal: AbortSignal;
  redactor: Redactor;
  budget: Budget;
  pace: RequestPace;
  stop: StopWatch;
  /** Verifies a token with a published key, if one was given. */
  verify?: ((token: string) => Promise<Seen['signature']>) | undefined;
  /** The audio to send: PCM. */
  speech: Buffer;
  /** How long to watch a connection that does not answer, milliseconds. */
  waitMs: number;
}

export interface RefusalExpectation {
  /** Set if the exchange should be refused. */
  provoked?: boolean;
}

export interface AskerTokenOptions extends RefusalExpectation {
  version?: ApiVersion;
  /** Without it the request has no Accept. */
  accept?: boolean;
  device?: DeviceRole;
  mediaType?: string;
  /** Replaces the usual body. */
  body?: (fields: { apiKey: string; deviceId: string }) => string;
  /** How much faster than usual. Default 1. */
  hurry?: number;
}

export interface PlainRequest extends RefusalExpectation {
  url: string;
  headers?: readonly Header[];
}

export interface OpenOptions extends RefusalExpectation {
  path?: string;
}

/** Sends the requests of one try and keeps the observations. */
export interface Asker extends Pick<RunContext, 'subject' | 'clockwork' | 'signal' | 'speech' | 'waitMs'> {
  token(id: string, options?: AskerTokenOptions): Promise<Seen>;
  /** A GET without a key. */
  plain(id: string, request: PlainRequest): Promise<Seen>;
  /** Opens a voice stream on which nothing is sent yet. Throws `NotAsked` if the run was stopped. */
  open(id: string, options?: OpenOptions): Promise<ServiceLine>;
  /** Sends a little silence on every confirmed line that is open and has sent nothing for a while. Returns whether any is open. */
  keepAlive(): boolean;
  /** The token that an exchange was granted. Throws `NotAsked` if there was none. */
  tokenOf(...ids: readonly string[]): string;
  /** Whether any line is open. */
  readonly hasOpenLines: boolean;
  /** Throws `NotAsked` if it was not opened. */
  lineOf(id: string): ServiceLine;
  deviceOf(role: DeviceRole): string | undefined;
  /** Whether `check` becomes true within `ms` of the service's time; `expected`: it should, and soon. */
  wait(line: ServiceLine, check: () => boolean, ms: number, expected?: boolean): Promise<boolean>;
  /** Reports that something promised by the specification did not arrive. The second time stops the run. */
  miss(what: string): void;
  /** The exchanges so far, in the order in which they began. */
  seen(): Seen[];
  settle(): Promise<void>;
  /** Closes every line that is still open. */
  end(): Promise<void>;
}

/** How long to wait for an answer before the clock is moved: for an expected one on a busy machine, and for any other. */
const expectedMs = 3_000;
const graceMs = 400;

/** How often a confirmed stream sends something while a run waits: a service may end one that is silent. */
export const signOfLifeMs = 1_000;
/** One that sends speech sends nothing else. A timer may fire a little early. */
const quietMs = signOfLifeMs / 2;
/** What a stream sends that would be silent. */
export const signOfLife = Buffer.alloc(bytesForMs(defaultFrameMs));

/** `suffix` is appended to the name of each exchange. */
export function createAsker(context: RunContext, devices: Devices, suffix = ''): Asker {
  const { subject, clockwork, signal, redactor, budget, pace, stop } = context;
  const { clock } = clockwork;
  const entries: { id: string; look(): Seen }[] = [];
  const tokens = new Map<string, string>();
  const lines = new Map<string, ServiceLine>();
  const apart = createApart(clockwork);

  const beginning = async (kind: keyof Cost, hurry = 1) => {
    requireGoing(stop);
    await pace.turn(clockwork.isMoved ? Number.POSITIVE_INFINITY : hurry, signal);
    requireGoing(stop);
    budget.spend(kind);
  };
  const keep = (seen: Seen) => {
    entries.push({ id: seen.id, look: () => seen });
    return seen;
  };
  const serviceAt = (wallAt: number) => (clockwork.isMoved ? { serviceAt: wallAt } : {});
  const send = async (
    id: string,
    request: HttpRequest,
    {
      provoked,
      isRetry = false,
      isMore = false,
    }: RefusalExpectation & { isRetry?: boolean; isMore?: boolean },
  ): Promise<Seen> => {
    const asked = await ask(request, { clock, signal, redactor, ca: subject.ca });
    const exchange = { ...(await asked.evidence()), caFile: subject.caFile };
    const { token } = asked;
    const signature = token === undefined ? undefined : await context.verify?.(token);
    if (token !== undefined) tokens.set(id, token);
    return keep({
      id: `${id}${isRetry ? '-retry' : isMore ? '-again' : ''}${suffix}`,
      exchange,
      ...(provoked === true ? { provoked } : {}),
      ...(signature === undefined ? {} : { signature }),
      ...serviceAt(exchange.wallAt),
    });
  };

  const asker: Asker = {
    ...{ subject, clockwork, signal, speech: context.speech, waitMs: context.waitMs },
    async token(id, options = {}) {
      const deviceId = deviceFor(options, devices);
      const request = tokenRequest(options, subject, deviceId);
      const isUsual = options.body === undefined && options.hurry === undefined;
      if (isUsual) await apart.wait(deviceId, signal);
      await beginning('tokens', options.hurry);
      // Another step needs this one again, after its token was used or has expired.
      const isMore = entries.some((entry) => entry.id === id + suffix);
      const seen = await send(id, request, { ...options, isMore });
      apart.remember(deviceId, seen);
      if (stop.look(seen) !== 'again') return seen;
      await beginning('tokens', options.hurry);
      const again = await send(id, request, { ...options, isRetry: true });
      stop.look(again);
      return again;
    },
    async plain(id, { url, headers = [], provoked = false }) {
      await beginning('plain');
      const seen = await send(id, { method: 'GET', url, headers, body: '' }, { provoked });
      stop.look(seen);
      return seen;
    },
    async open(id, { provoked, path = streamPath } = {}) {
      await beginning('connections');
      const url = serviceUrl(subject.wsUrl, path);
      const line = await openLine({ url, ca: subject.ca, clock, signal, redactor });
      const look = (): Seen => {
        const exchange = line.exchange();
        const extra = provoked === true ? { provoked } : {};
        return { id: id + suffix, exchange, ...extra, ...serviceAt(exchange.upgrade.wallAt) };
      };
      entries.push({ id: id + suffix, look });
      lines.set(id, line);
      stop.look(look());
      return line;
    },
    keepAlive() {
      const kept = [...lines.values()].filter(({ isOpen, isConfirmed }) => isOpen && isConfirmed);
      const before = clock.now() - quietMs;
      for (const line of kept) if (line.sentAt <= before) line.sendAudio(signOfLife);
      return kept.length > 0;
    },
    tokenOf(...ids) {
      const id = ids.find((one) => tokens.has(one));
      const token = id === undefined ? undefined : tokens.get(id);
      if (token === undefined) throw new NotAsked('no token was granted');
      return token;
    },
    get hasOpenLines() {
      return [...lines.values()].some(({ isOpen }) => isOpen);
    },
    lineOf(id) {
      const line = lines.get(id);
      if (line === undefined) throw new NotAsked('the stream was not opened');
      return line;
    },
    deviceOf: devices.idOf,
    miss: stop.miss,
    async wait(line, check, ms, expected = false) {
      if (!clockwork.isMoved) return line.until(check, ms);
      if (await line.until(check, expected ? expectedMs : graceMs)) return true;
      if (!line.isOpen) return false;
      await clockwork.pass(clock.now() + ms, signal);
      await line.settle();
      return check();
    },
    seen: () => entries.map(({ look }) => look()),
    async settle() {
      await Promise.all([...lines.values()].map((line) => line.settle()));
    },
    async end() {
      await Promise.all([...lines.values()].map((line) => line.close()));
    },
  };
  return asker;
}

function requireGoing({ stopped }: StopWatch): void {
  if (stopped !== undefined) throw new NotAsked(stopped.message);
}

function deviceFor({ device = 'own' }: AskerTokenOptions, devices: Devices): string {
  const deviceId = devices.idOf(device);
  if (deviceId === undefined) throw new NotAsked('it needs its own device');
  return deviceId;
}

function tokenRequest(
  options: AskerTokenOptions,
  { baseUrl, apiKey }: ServiceUnderTest,
  deviceId: string,
): HttpRequest {
  const fields = { apiKey, deviceId };
  return {
    method: 'POST',
    url: serviceUrl(baseUrl, tokenPath(options.version)),
    headers: [
      ['Content-Type', options.mediaType ?? jsonMediaType],
      ...(options.accept === true ? [['Accept', jsonMediaType] as const] : []),
    ],
    body: options.body?.(fields) ?? JSON.stringify(fields),
  };
}

/** Keeps the token requests of a device apart. */
interface Apart {
  /** Resolves when another token of the device cannot be the same as the last one. */
  wait(device: string, signal: AbortSignal): Promise<void>;
  remember(device: string, seen: Seen): void;
}

/** Without a `jti`, tokens of the same device and second are identical, and one of them counts as reused. */
const apartMs = 1_100;

function createApart({ clock, pass }: Clockwork): Apart {
  const nextAt = new Map<string, number>();
  return {
    async wait(device, signal) {
      const at = nextAt.get(device);
      if (at !== undefined && at > clock.now()) await pass(at, signal);
    },
    remember(device, { exchange }) {
      const claims = exchange.kind === 'token' ? exchange.granted?.claims : undefined;
      if (claims !== undefined && !Object.hasOwn(claims, 'jti')) nextAt.set(device, clock.now() + apartMs);
    },
  };
}

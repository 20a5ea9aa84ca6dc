import { createEmulator, type Emulator } from '../../emulator/emulator.ts';
import type { EmulatorOptions } from '../../emulator/options.ts';
import type { CreateReply, Voice } from '../../emulator/replies/reply.ts';
import { makeTone } from '../../emulator/replies/tone.ts';
import type { Clock } from '../../kernel/clock.ts';
import { queueCostBytes } from '../../kernel/queue-cost.ts';
import { aimFault } from '../../protocol/faults.ts';
import type { Seen } from '../../rules/rule.ts';
import { isData } from '../../rules/stream-seen.ts';
import { requestFields } from '../../rules/token-seen.ts';
import type { EmulatorEvent } from '../../service/events.ts';
import { playPcm } from '../../service/streams/playable.ts';
import type { StreamEnd, StreamExchange, TokenExchange, Upgrade, WireMessage } from '../../wire/exchange.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';
import { prepareTls } from '../../wire/server/prepare-tls.ts';
import { joinTaps, type Tap } from '../../wire/tap.ts';
import type {
  DeviceAddress,
  ListeningAddress,
  Service,
  Situation,
  StepAction,
  TimedEvent,
} from './situation.ts';

/** The service of one situation, with what it sees. */
export interface Stage {
  readonly watch: Watch;
  /** What reached the other host. */
  readonly elsewhere: Watch;
  readonly address: DeviceAddress & ListeningAddress;
  do(action: Exclude<StepAction, { stop: unknown }>): void;
  close(): Promise<void>;
}

/** How the service listens and whom it accepts: the same in all situations. */
export type ServiceAccess = Pick<
  EmulatorOptions,
  'host' | 'port' | 'acceptKeys' | 'allowHosts' | 'allowOrigins'
> & { tls?: TlsCertificate | undefined };

export interface StageOptions {
  situation: Situation;
  access: ServiceAccess;
  clock: Clock;
  device: string | undefined;
  onChange: () => void;
}

const toneHz = 330;
/** A name that no device connects to. */
const otherName = 'another-host.invalid';

/** Sets a situation up. Throws what starting an emulator throws. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { situation, access, clock, device, onChange } = options;
  const watch = createWatch({ clock, device, onChange });
  const elsewhere = createWatch({ clock, device: undefined, onChange });
  const voices = new Set<Voice>();
  // The other host is on this machine, so that it hears what goes there; it accepts anything.
  const other =
    typeof situation.service === 'function'
      ? await createEmulator({ clock, tap: elsewhere.tap, tls: access.tls ?? false })
      : undefined;
  const service = serviceOf(situation, { elsewhere: other?.baseUrl ?? '', device });
  const certificate = await certificateFor(situation, access);
  const emulator = await createEmulator({
    ...access,
    reply: listen(voices),
    ...service,
    tls: certificate ?? false,
    clock,
    tap: watch.tap,
    onEvent: watch.record,
  }).catch(async (thrown) => {
    await other?.close();
    throw thrown;
  });
  return {
    watch,
    elsewhere,
    address: {
      baseUrl: emulator.baseUrl,
      wsUrl: emulator.wsUrl,
      lan: emulator.lan,
      certificate: situation.tls === 'untrusted' ? access.tls?.cert : certificate?.cert,
    },
    do: (action) =>
      perform(action, {
        ...{ control: emulator.control, device },
        voices: [...voices].filter((voice) => device === undefined || voice.device === device),
      }),
    async close() {
      await Promise.all([emulator.close(), other?.close()]);
    },
  };
}

function serviceOf(
  { service }: Situation,
  { elsewhere, device }: { elsewhere: string; device: string | undefined },
): Service {
  const own = typeof service === 'function' ? service({ elsewhere }) : (service ?? {});
  if (device === undefined || own.faults === undefined) return own;
  return { ...own, faults: own.faults.map((fault) => aimFault(fault, { device })) };
}

/** The certificate of the situation: the usual one, one for another name, or one that the device does not know. */
async function certificateFor(
  { tls }: Situation,
  { tls: usual, host = '127.0.0.1', allowHosts = [] }: ServiceAccess,
): Promise<TlsCertificate | undefined> {
  if (tls === undefined || usual === undefined) return usual;
  if (tls !== 'wrong-name') return prepareTls(true, { host, allowHosts });
  const { createCertificate } = await import('../../wire/server/self-signed.ts');
  return createCertificate([otherName]);
}

/** An AI that says nothing on its own. */
function listen(voices: Set<Voice>): CreateReply {
  return (voice) => {
    voices.add(voice);
    return {
      hear() {},
      said: () => voice.status('listening'),
      close: () => void voices.delete(voice),
    };
  };
}

interface Actors extends Pick<Emulator, 'control'> {
  device: string | undefined;
  voices: readonly Voice[];
}

function perform(action: Exclude<StepAction, { stop: unknown }>, { control, device, voices }: Actors): void {
  if ('fault' in action)
    control.faults.add(device === undefined ? action.fault : aimFault(action.fault, { device }));
  else if ('advanceMs' in action) control.advance(action.advanceMs);
  else if ('status' in action) control.send({ device }, { status: action.status });
  else if ('sayMs' in action) for (const voice of voices) reply(voice, action.sayMs);
  else for (const voice of voices) for (const bytes of action.audio) voice.send(audioOf(bytes));
}

function reply(voice: Voice, ms: number): void {
  voice.status('speaking');
  voice.say(playPcm(makeTone(toneHz, ms)));
}

function audioOf(bytes: number): Buffer {
  return makeTone(toneHz, Math.ceil(bytes / 32) + 1).subarray(0, bytes);
}

/** Keeps what an emulator sees of a device. */
interface Watch {
  tap(): Tap;
  record(event: EmulatorEvent): void;
  /** The exchanges so far, named. */
  seen(): Seen[];
  readonly journal: readonly TimedEvent[];
  /** Whether a device that does not count has connected. */
  readonly isShared: boolean;
  /** Whether anything of the device was seen. */
  hasCome(): boolean;
}

const signs: readonly string[] = [
  'tls-opened',
  'tls-failed',
  'request-refused',
  'token-issued',
  'stream-opened',
];

/** Maximum number of messages kept of a stream: a minute of audio in frames of 10 ms, both ways. */
const maxMessages = 12_000;
/** Maximum number of events and exchanges: a device in a storm must not fill the memory. */
const maxEvents = 5_000;
const maxExchanges = 2_000;
/** Maximum bytes of the messages of all streams together. */
const maxKeptBytes = 64 * 1024 * 1024;

interface WatchOptions {
  clock: Clock;
  /** Only this device counts. */
  device: string | undefined;
  onChange: () => void;
}

function createWatch({ clock, device, onChange }: WatchOptions): Watch {
  const collectors: Collector[] = [];
  let keptBytes = 0;
  const journal: TimedEvent[] = [];
  let epoch: number | undefined;
  let isShared = false;

  // A request that names nobody may be anybody's. A stream names its device when it presents its token: if others connect too,
  // it is nobody's until then, and the device's if no token comes.
  const isOurs = (one: Seen): boolean => {
    const named = deviceOf(one);
    const mayBe = one.exchange.kind === 'stream' && (!isShared || hasNoToken(one.exchange));
    return device === undefined || named === device || (named === undefined && mayBe);
  };
  const isSign = ({ type }: EmulatorEvent): boolean =>
    // A stream of somebody, until it presents its token.
    signs.includes(type) && (device === undefined || type !== 'stream-opened');

  const watch: Watch = {
    journal,
    get isShared() {
      return isShared;
    },
    hasCome() {
      const isThere = (one: Seen) => device === undefined || deviceOf(one) === device;
      return journal.some(isSign) || watch.seen().some(isThere);
    },
    tap() {
      const collector = createCollector();
      if (collectors.length < maxExchanges) collectors.push(collector);
      let messages = 0;
      const kept: Tap = {
        ...collector.tap,
        message(message) {
          messages += 1;
          if (messages > maxMessages || keptBytes > maxKeptBytes) return;
          keptBytes += queueCostBytes(message.bytes);
          collector.tap.message?.(message);
        },
      };
      const notifying: Tap = { token: onChange, opened: onChange, message: onChange, closed: onChange };
      return joinTaps(kept, notifying);
    },
    record(event) {
      epoch ??= clock.now() - event.t;
      const isOfOther = device !== undefined && 'device' in event && (event.device ?? device) !== device;
      isShared ||= isOfOther;
      if (isOfOther) return;
      if (journal.length < maxEvents) journal.push({ ...event, at: epoch + event.t });
      onChange();
    },
    seen() {
      const tokens = named(
        'T',
        collectors.flatMap(({ tokens }) => tokens).sort((a, b) => a.at - b.at),
      );
      const streams = named(
        'S',
        collectors
          .flatMap((collector) => collector.stream() ?? [])
          .sort((a, b) => a.upgrade.at - b.upgrade.at),
      );
      return [...tokens, ...streams].filter(isOurs);
    },
  };
  return watch;
}

function named(letter: string, exchanges: readonly Seen['exchange'][]): Seen[] {
  return exchanges.map((exchange, index) => ({ id: `${letter}${index + 1}`, exchange }));
}

/** The device that an exchange names, in its request or its token. */
function deviceOf({ id, exchange }: Seen): unknown {
  if (exchange.kind === 'token')
    return requestFields({ id, exchange })?.deviceId ?? exchange.granted?.claims?.sub;
  const token = exchange.messages.find((message) => 'token' in message);
  return token !== undefined && 'token' in token ? token.token.claims?.sub : undefined;
}

/** Whether a stream began without a token, or ended without one. */
function hasNoToken({ messages, end }: StreamExchange): boolean {
  return end !== undefined || messages.some((message) => message.from === 'device' && isData(message));
}

/** A tap that keeps everything as exchanges. */
export interface Collector {
  readonly tap: Tap;
  /** The token requests so far, one for each attempt. */
  readonly tokens: readonly TokenExchange[];
  /** The stream so far; undefined before its upgrade is answered. */
  stream(): StreamExchange | undefined;
}

/** Keeps a whole conversation, audio included: only for short conversations. */
export function createCollector(): Collector {
  const tokens: TokenExchange[] = [];
  const messages: WireMessage[] = [];
  let upgrade: Upgrade | undefined;
  let end: StreamEnd | undefined;
  return {
    tokens,
    tap: {
      token: (exchange) => void tokens.push(exchange),
      opened(answered) {
        upgrade = answered;
      },
      message: (message) => void messages.push(message),
      closed(ended) {
        end = ended;
      },
    },
    stream: () => upgrade && { kind: 'stream', upgrade, messages: [...messages], end },
  };
}

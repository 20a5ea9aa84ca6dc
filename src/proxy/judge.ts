import { isWrongFormat, type VoiceFinding } from '../audio/verdict/voice-findings.ts';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { serviceRules } from '../rules/catalogue.ts';
import { judgeSentVoice } from '../rules/device/audio.ts';
import { deviceRules } from '../rules/device/catalogue.ts';
import { reuseRule } from '../rules/expiry.ts';
import { type JudgedVoice, judgeReplyVoice } from '../rules/reply-audio.ts';
import type { Finding, Rule, Seen } from '../rules/rule.ts';
import type { Judgement } from '../service/events.ts';
import { guarded } from '../service/guard.ts';
import { estimateBytes } from '../service/state/estimate-bytes.ts';
import type { Side, StreamExchange, TokenExchange } from '../wire/exchange.ts';
import type { ProxyEvents } from './proxy-events.ts';

/** A stream to be judged. */
export interface StreamSubject {
  readonly id: number;
  /** The device that its token names. */
  readonly device: string | undefined;
  /** What it is judged together with: its device, or where its token names none, all streams with this token. */
  readonly owner: string;
  seenBy(side: Side): StreamExchange;
  /** Whether the service has heard audio that we have spoilt: it is not to blame for its own. */
  readonly hearsSpoiltAudio: boolean;
  /** The audio that a side has sent, if it has sent any and nothing has changed its pace on the way. */
  heard(side: Side): JudgedVoice | undefined;
  /** Called with what judging it threw, outside of its own handlers. */
  failed(thrown: unknown): void;
}

/** A token request as each side sees it: the same unless it was spoilt. A service that was not asked saw nothing. */
export type SeenTokenRequest = Readonly<Record<Side, TokenExchange | undefined>>;

export interface JudgementCounts {
  violations: number;
  remarks: number;
}

/** Judges both sides by what passes. It looks when something other than audio passed, and at the end of a stream. */
export interface ProxyJudge {
  token(seen: SeenTokenRequest, device: string | undefined): void;
  opened(stream: number): void;
  /** The device of this stream is known. */
  identified(stream: StreamSubject): void;
  passed(stream: StreamSubject): void;
  /** A finding in the audio of a side. */
  heard(side: Side, stream: StreamSubject, finding: VoiceFinding, remark: string): void;
  /** The pace of its device is known, or has changed. */
  paced(stream: StreamSubject): void;
  ended(stream: StreamSubject): void;
  /** The rules that were broken on an open stream, for people: the first ones. */
  heldAgainst(stream: number): readonly string[];
  /** How much was found against the sides. */
  counts(): JudgementCounts;
  close(): void;
}

export interface ProxyJudgeOptions {
  clock: Clock;
  events: ProxyEvents;
  /** Whether remarks are violations. */
  isStrict: boolean;
}

/** A burst of messages is judged once. */
const judgeEveryMs = 200;
/** What is remembered of one device, newest last. */
const maxTokens = 64;
const maxEnded = 16;
const newestTokens = 12;
const newestEnded = 2;
/** Devices that are remembered, and what is remembered of all of them beside their open streams. */
const maxDevices = 200;
const rememberedBytes = 8 * 1024 * 1024;
/** Judgements about no stream that are remembered; beyond it the oldest may be told again. */
const maxTold = 5_000;
/** Broken rules of an open stream that are remembered for those who look. */
const maxHeld = 20;

const catalogues: Readonly<Record<Side, readonly Rule[]>> = {
  // A second use of a token is the device's doing, whatever the service makes of it.
  service: serviceRules.filter(({ id }) => id !== reuseRule.id),
  device: deviceRules,
};
const serviceFirst = ['service', 'device'] as const;
/** The rule about the audio of each side. */
const audioRule = { service: 'R38', device: 'D5' } as const;

export function createProxyJudge({ clock, events, isStrict }: ProxyJudgeOptions): ProxyJudge {
  const dossiers = createDossiers();
  const book = createJudgementBook({ events, isStrict });
  const timers = new Map<StreamSubject, ClockTimer>();

  const enter = (side: Side, rule: Rule, finding: Finding | undefined, device: string | undefined) => {
    for (const one of finding?.each ?? [finding]) if (one !== undefined) enterOne(side, rule, one, device);
  };
  const enterOne = (side: Side, rule: Rule, finding: Finding, device: string | undefined) => {
    const { verdict, about: subjects = finding.evidence } = finding;
    if (verdict !== 'fail' && verdict !== 'warn' && verdict !== 'observed') return;
    const streams = subjects.flatMap((id) => (id.startsWith('S') ? [Number(id.slice(1))] : []));
    const about = {
      from: side,
      rule: rule.id,
      message: rule.title,
      value: finding.message,
      isFault: verdict === 'fail',
    };
    for (const stream of streams.length > 0 ? streams : [undefined])
      book.enter({ ...about, stream, device, count: finding.evidence.length });
  };

  /** `subject`: its audio is judged too, at its end. */
  const judge = ({
    owner,
    device,
    subject,
    isWhole = true,
  }: Pick<StreamSubject, 'owner' | 'device'> & { subject?: StreamSubject; isWhole?: boolean }) => {
    const dossier = isWhole ? dossiers.of(owner) : newest(dossiers.of(owner));
    for (const side of serviceFirst) {
      const seen = gather(dossier, side, subject);
      for (const rule of catalogues[side]) {
        const isOfAudio = subject !== undefined && rule.id === audioRule[side];
        if (isOfAudio && (!isWhole || (side === 'service' && subject.hearsSpoiltAudio))) continue;
        enter(side, rule, isOfAudio ? judgeVoice(side, subject, seen) : rule.judge(seen), device);
      }
    }
  };

  return {
    token(seen, device) {
      const owner = ownerOf(device);
      dossiers.addToken(owner, seen);
      judge({ owner, device });
    },
    opened: (stream) => void book.open(stream),
    identified(stream) {
      dossiers.of(stream.owner).open.add(stream);
    },
    passed(stream) {
      if (timers.has(stream)) return;
      const look = () => {
        timers.delete(stream);
        judge({ owner: stream.owner, device: stream.device, subject: stream, isWhole: false });
      };
      const call = () => guarded(look, stream.failed);
      timers.set(stream, clock.after(judgeEveryMs, call, { background: true }));
    },
    heard(side, stream, finding, remark) {
      if (!isWrongFormat(finding) || (side === 'service' && stream.hearsSpoiltAudio)) return;
      const rule = catalogues[side].find(({ id }) => id === audioRule[side]);
      if (rule === undefined) return;
      const { id, device } = stream;
      const about = { from: side, rule: rule.id, message: rule.title, value: remark, isFault: true };
      book.enter({ ...about, stream: id, device, count: 1 });
    },
    paced(stream) {
      const rule = catalogues.device.find(({ id }) => id === audioRule.device);
      const own = { id: `S${stream.id}`, exchange: stream.seenBy('device') };
      if (rule !== undefined) enter('device', rule, judgeVoice('device', stream, [own]), stream.device);
    },
    ended(stream) {
      timers.get(stream)?.cancel();
      timers.delete(stream);
      judge({ owner: stream.owner, device: stream.device, subject: stream });
      dossiers.addEnded(stream);
      book.close(stream.id);
    },
    heldAgainst: book.heldAgainst,
    counts: book.counts,
    close() {
      for (const timer of timers.values()) timer.cancel();
    },
  };
}

interface AskedToken {
  id: string;
  seen: SeenTokenRequest;
  bytes: number;
}

/** An ended stream, for the rules about several streams: without its audio, and without what made it. */
interface EndedStream {
  id: number;
  seen: Readonly<Record<Side, StreamExchange>>;
  bytes: number;
}

/** What is remembered of one device. */
interface Dossier {
  tokens: AskedToken[];
  open: Set<StreamSubject>;
  ended: EndedStream[];
}

/** What is remembered of all devices, within a budget: beyond it the device that was away longest is forgotten. */
function createDossiers() {
  const dossiers = new Map<string, Dossier>();
  let bytes = 0;
  let tokens = 0;

  const dossierOf = (owner: string): Dossier => {
    const known = dossiers.get(owner) ?? { tokens: [], open: new Set(), ended: [] };
    dossiers.delete(owner);
    dossiers.set(owner, known);
    for (const [oldest, dossier] of dossiers) {
      if (dossiers.size <= maxDevices) break;
      if (dossier.open.size > 0) continue;
      while (forgetOldest(dossier));
      dossiers.delete(oldest);
    }
    return known;
  };
  const forgetOldest = (dossier: Dossier): boolean => {
    const forgotten = dossier.tokens.shift() ?? dossier.ended.shift();
    bytes -= forgotten?.bytes ?? 0;
    return forgotten !== undefined;
  };
  const add = <Kept extends AskedToken | EndedStream>(list: Kept[], kept: Kept, most: number) => {
    list.push(kept);
    bytes += kept.bytes;
    if (list.length > most) bytes -= list.shift()?.bytes ?? 0;
    for (const dossier of dossiers.values()) {
      while (bytes > rememberedBytes && forgetOldest(dossier));
      if (bytes <= rememberedBytes) break;
    }
  };
  return {
    of: dossierOf,
    addToken(owner: string, seen: SeenTokenRequest) {
      tokens += 1;
      add(dossierOf(owner).tokens, { id: `T${tokens}`, seen, bytes: weighSides(seen) }, maxTokens);
    },
    addEnded(stream: StreamSubject) {
      const { id, owner } = stream;
      const device = withoutAudio(stream.seenBy('device'));
      const service = withoutAudio(stream.seenBy('service'));
      const dossier = dossierOf(owner);
      dossier.open.delete(stream);
      add(dossier.ended, { id, seen: { device, service }, bytes: weighSides({ device, service }) }, maxEnded);
    },
  };
}

function weighSides({ device, service }: Readonly<Record<Side, unknown>>): number {
  return estimateBytes(device) + (service === device ? 0 : estimateBytes(service));
}

/** Something held against a side. */
interface Entry extends Omit<Judgement, 'type' | 'device' | 'stream'> {
  /** A rule is broken; otherwise it is unusual, or left open. */
  isFault: boolean;
  stream: number | undefined;
  device: string | undefined;
}

/** Emits each entry once for a stream, or for a device where it is about no stream. */
function createJudgementBook({ events, isStrict }: Pick<ProxyJudgeOptions, 'events' | 'isStrict'>) {
  const told = new Set<string>();
  const held = new Map<number, string[]>();
  const counts: JudgementCounts = { violations: 0, remarks: 0 };
  const keyOf = ({ rule, isFault, stream, device }: Entry) =>
    `${rule} ${isFault} ${stream === undefined ? `of ${device}` : stream}`;
  return {
    enter(entry: Entry) {
      const key = keyOf(entry);
      if (told.has(key)) return;
      told.add(key);
      const [oldest] = told;
      if (told.size > maxTold && oldest !== undefined) told.delete(oldest);
      const { isFault, stream, device, ...rest } = entry;
      const type = isFault || isStrict ? 'violation' : 'remark';
      counts[type === 'violation' ? 'violations' : 'remarks'] += 1;
      events.of[rest.from].emit({
        type,
        ...rest,
        ...(stream === undefined ? {} : { stream }),
        ...(device === undefined ? {} : { device }),
      });
      const texts = type === 'violation' && stream !== undefined ? held.get(stream) : undefined;
      if (texts !== undefined && texts.length < maxHeld)
        texts.push(`${rest.from} breaks ${rest.rule}: ${rest.value}`);
    },
    open: (stream: number) => held.set(stream, []),
    heldAgainst: (stream: number): readonly string[] => held.get(stream) ?? [],
    close: (stream: number) => held.delete(stream),
    counts: () => ({ ...counts }),
  };
}

/** The owner of streams and token requests of a device; of those that name none, a token. */
export function ownerOf(device: string | undefined, tokenHash = ''): string {
  return device === undefined ? `token ${tokenHash}` : `device ${device}`;
}

/** The rule about the audio of a side, by the check that has listened: it would cost much to listen again. */
function judgeVoice(side: Side, subject: StreamSubject, seen: readonly Seen[]): Finding | undefined {
  const own = seen.find(({ id }) => id === `S${subject.id}`);
  const heard = subject.heard(side);
  if (own === undefined || heard === undefined) return undefined;
  return side === 'device' ? judgeSentVoice(own, heard) : judgeReplyVoice(own, heard);
}

/** As much of a dossier as what passes on a stream may concern. The rest is judged with each token, and at the end of each stream. */
function newest({ tokens, open, ended }: Dossier): Dossier {
  return { tokens: tokens.slice(-newestTokens), open, ended: ended.slice(-newestEnded) };
}

/** Everything that is known of a device, as one side sees it; audio only of the stream that is judged. */
function gather({ tokens, open, ended }: Dossier, side: Side, subject: StreamSubject | undefined): Seen[] {
  const streams = [...open];
  if (subject !== undefined && !open.has(subject)) streams.push(subject);
  return [
    ...tokens.flatMap(({ id, seen }) => {
      const exchange = seen[side];
      return exchange === undefined ? [] : [{ id, exchange }];
    }),
    ...ended.map(({ id, seen }) => ({ id: `S${id}`, exchange: seen[side] })),
    ...streams.map((stream) => {
      const exchange = stream.seenBy(side);
      return { id: `S${stream.id}`, exchange: stream === subject ? exchange : withoutAudio(exchange) };
    }),
  ];
}

/** But for audio that a device sends before the service has said anything: what the service says then is an answer to it. */
function withoutAudio(exchange: StreamExchange): StreamExchange {
  const { messages } = exchange;
  const early = messages.find((message) => message.from === 'service' || 'data' in message);
  return { ...exchange, messages: messages.filter((message) => !('data' in message) || message === early) };
}

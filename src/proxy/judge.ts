import { isWrongFormat, type VoiceFinding } from '../audio/verdict/voice-findings.ts';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { serviceRules } from '../rules/catalogue.ts';
import { judgeSentVoice } from '../rules/device/audio.ts';
import { deviceRules } from '../rules/device/catalogue.ts';
import { reuseRule } from '../rules/expiry.ts';
import { type JudgedVoice, judgeReplyVoice } from '../rules/reply-audio.ts';
import type { Finding, Rule, Seen } from '../rules/rule.ts';
import { isData } from '../rules/stream-seen.ts';
import type { Judgement } from '../service/events.ts';
import { runGuarded } from '../service/guard.ts';
import { estimateBytes } from '../service/state/newest.ts';
import type { Side, StreamExchange, TokenExchange } from '../wire/exchange.ts';
import type { ProxyEvents } from './proxy-events.ts';

/** A stream to be judged. */
export interface StreamSubject {
  readonly id: number;
  /** The device that its token names. */
  readonly device: string | undefined;
  /** What it is judged together with: the streams of its device or, if its token names none, the streams with this token. */
  readonly owner: string;
  seenBy(side: Side): StreamExchange;
  /** Whether what was seen lacks something that rules need: then only its audio is judged. */
  readonly isPartial: boolean;
  /** Whether the service heard audio that a fault changed: then its own audio is not held against it. */
  readonly hearsSpoiltAudio: boolean;
  /** The audio that a side sent; undefined if there was none, or if a fault changed its pace. */
  heard(side: Side): JudgedVoice | undefined;
  /** Reports an error that was thrown while judging it, outside of its own handlers. */
  failed(thrown: unknown): void;
}

/** A token request as each side saw it: the same unless a fault changed it. Undefined for a service that was not asked. */
export type SeenTokenRequest = Readonly<Record<Side, TokenExchange | undefined>>;

export interface JudgementCounts {
  violations: number;
  remarks: number;
}

/** Judges both sides by their traffic: whenever something other than audio passes, and at the end of each stream. */
export interface ProxyJudge {
  token(seen: SeenTokenRequest, device: string | undefined): void;
  opened(stream: number): void;
  /** The device of this stream has become known. */
  identified(stream: StreamSubject): void;
  passed(stream: StreamSubject): void;
  /** A finding in the audio of a side. */
  heard(side: Side, stream: StreamSubject, finding: VoiceFinding, remark: string): void;
  /** The pace of its device has become known, or has changed. */
  paced(stream: StreamSubject): void;
  ended(stream: StreamSubject): void;
  /** The first rules that were broken on an open stream, as text. */
  heldAgainst(stream: number): readonly string[];
  /** How many violations and remarks there are so far. */
  counts(): JudgementCounts;
  close(): void;
}

export interface ProxyJudgeOptions {
  clock: Clock;
  events: ProxyEvents;
  /** Whether remarks count as violations. */
  isStrict: boolean;
}

/** So that a burst of messages is judged once. */
const judgeEveryMs = 200;
/** How much is remembered of one device; in a quick judgement only the newest counts. */
const maxTokens = 64;
const maxEnded = 16;
const newestTokens = 12;
const newestEnded = 2;
/** How many devices are remembered, and how many bytes of all of them in addition to their open streams. */
const maxDevices = 200;
const rememberedBytes = 8 * 1024 * 1024;
/** How many judgements are remembered. Beyond it the oldest may be reported again. */
const maxReported = 5_000;
/** How many broken rules of an open stream are kept for screens and the control API. */
const maxHeld = 20;

const catalogues: Readonly<Record<Side, readonly Rule[]>> = {
  // Using a token twice is the fault of the device, however the service reacts.
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
  /** Of open streams: another device at the same address may change what `owner` says. */
  const owners = new Map<StreamSubject, string>();
  const ownerOfStream = (stream: StreamSubject) => owners.get(stream) ?? stream.owner;

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

  /** `subject`: this stream's audio is judged too, at its end. */
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
        enter(side, rule, isOfAudio ? judgeVoice(side, subject) : rule.judge(seen), device);
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
      const owner = ownerOfStream(stream);
      owners.set(stream, owner);
      dossiers.of(owner).open.add(stream);
    },
    passed(stream) {
      if (timers.has(stream)) return;
      const look = () => {
        timers.delete(stream);
        judge({ owner: ownerOfStream(stream), device: stream.device, subject: stream, isWhole: false });
      };
      const call = () => runGuarded(look, stream.failed);
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
      if (rule !== undefined) enter('device', rule, judgeVoice('device', stream), stream.device);
    },
    ended(stream) {
      timers.get(stream)?.cancel();
      timers.delete(stream);
      const owner = ownerOfStream(stream);
      judge({ owner, device: stream.device, subject: stream });
      dossiers.addEnded(owner, stream);
      owners.delete(stream);
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

/** An ended stream, for the rules about several streams: without its audio. */
interface EndedStream {
  id: number;
  seen: Readonly<Record<Side, StreamExchange>>;
  bytes: number;
}

/** Everything that is remembered of one device. */
interface Dossier {
  tokens: AskedToken[];
  open: Set<StreamSubject>;
  ended: EndedStream[];
}

/** Everything that is remembered of all devices, within a budget. Beyond it the device that was away longest is forgotten. */
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
      if (dossier.open.size > 0 || dossier === known) continue;
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
    addEnded(owner: string, stream: StreamSubject) {
      const { id } = stream;
      const device = withoutAudio(stream.seenBy('device'));
      const service = withoutAudio(stream.seenBy('service'));
      const dossier = dossierOf(owner);
      dossier.open.delete(stream);
      if (stream.isPartial) return;
      add(dossier.ended, { id, seen: { device, service }, bytes: weighSides({ device, service }) }, maxEnded);
    },
  };
}

function weighSides({ device, service }: Readonly<Record<Side, unknown>>): number {
  return estimateBytes(device) + (service === device ? 0 : estimateBytes(service));
}

/** A rule that is held against a side. */
interface Entry extends Omit<Judgement, 'type' | 'device' | 'stream'> {
  /** Whether the rule is broken; otherwise the observation is only unusual, or the rule is left open. */
  isFault: boolean;
  stream: number | undefined;
  device: string | undefined;
}

/** Emits each entry once per stream, or once per device if it is not about a stream. */
function createJudgementBook({ events, isStrict }: Pick<ProxyJudgeOptions, 'events' | 'isStrict'>) {
  const reported = new Set<string>();
  const held = new Map<number, string[]>();
  const counts: JudgementCounts = { violations: 0, remarks: 0 };
  const keyOf = ({ rule, isFault, stream, device }: Entry) =>
    `${rule} ${isFault} ${stream === undefined ? `of ${device}` : stream}`;
  return {
    enter(entry: Entry) {
      const key = keyOf(entry);
      if (reported.has(key)) return;
      reported.add(key);
      const [oldest] = reported;
      if (reported.size > maxReported && oldest !== undefined) reported.delete(oldest);
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

/** The key of everything that belongs to one device or, if no device is named, to one token. */
export function ownerOf(device: string | undefined, tokenHash = ''): string {
  return device === undefined ? `token ${tokenHash}` : `device ${device}`;
}

/** Judges the audio of a side by the check that listened to it: listening again would be expensive. */
function judgeVoice(side: Side, subject: StreamSubject): Finding | undefined {
  const heard = subject.heard(side);
  if (heard === undefined) return undefined;
  const own = { id: `S${subject.id}`, exchange: subject.seenBy(side) };
  return side === 'device' ? judgeSentVoice(own, heard) : judgeReplyVoice(own, heard);
}

/** The part of a dossier that traffic on a stream may concern. The rest is judged with each token, and at the end of each stream. */
function newest({ tokens, open, ended }: Dossier): Dossier {
  return { tokens: tokens.slice(-newestTokens), open, ended: ended.slice(-newestEnded) };
}

/** Everything that is known about a device, as one side sees it. Includes audio only of the stream that is judged. */
function gather({ tokens, open, ended }: Dossier, side: Side, subject: StreamSubject | undefined): Seen[] {
  const streams = [...open];
  if (subject !== undefined && !open.has(subject)) streams.push(subject);
  const asked = tokens.flatMap(({ id, seen }) => {
    const exchange = seen[side];
    return exchange === undefined ? [] : [{ id, exchange }];
  });
  // What is missing of one stream may explain what happens on the others: a device may have too many of them.
  if (streams.some(({ isPartial }) => isPartial)) return asked;
  return [
    ...asked,
    ...ended.map(({ id, seen }) => ({ id: `S${id}`, exchange: seen[side] })),
    ...streams.map((stream) => {
      const exchange = stream.seenBy(side);
      return { id: `S${stream.id}`, exchange: stream === subject ? exchange : withoutAudio(exchange) };
    }),
  ];
}

/** Keeps a first message of audio from the device: the first message of the service may be an answer to it. */
function withoutAudio(exchange: StreamExchange): StreamExchange {
  const { messages } = exchange;
  const early = messages.find(
    (message) => (message.from === 'service' && isData(message)) || 'data' in message,
  );
  return { ...exchange, messages: messages.filter((message) => !('data' in message) || message === early) };
}

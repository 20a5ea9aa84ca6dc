import { isWrongFormat, type VoiceFinding } from '../audio/verdict/voice-findings.ts';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { serviceRules } from '../rules/catalogue.ts';
import { judgeSentVoice } from '../rules/device/audio.ts';
import { deviceRules } from '../rules/device/catalogue.ts';
import { type HeardVoice, judgeReplyVoice } from '../rules/reply-audio.ts';
import type { Finding, Rule, Seen } from '../rules/rule.ts';
import type { Side, StreamExchange, TokenExchange } from '../wire/exchange.ts';
import type { Evidence } from './evidence.ts';
import { createJudgementBook, type JudgementCounts } from './judgement-book.ts';
import type { ProxyEvents } from './proxy-events.ts';

/** A stream to be judged. */
export interface StreamSubject {
  readonly id: number;
  /** The device that its token names. */
  readonly device: string | undefined;
  /** What it is judged together with: its device, or where its token names none, all streams with this token. */
  readonly owner: string;
  seenBy(side: Side): Evidence;
  /** Whether the service has heard wrong audio: if it echoes that, it is not to blame. */
  readonly hearsWrongAudio: boolean;
  /** The audio that a side has sent, if it has sent any and nothing has changed its pace on the way. */
  heard(side: Side): HeardVoice | undefined;
}

/** A token request as each side sees it: the same unless it was spoilt. A service that was not asked saw nothing. */
export type SeenTokenRequest = Readonly<Record<Side, TokenExchange | undefined>>;

/** Judges both sides by what passes. It looks when something other than audio passed, and at the end of a stream. */
export interface Judge {
  token(seen: SeenTokenRequest, device: string | undefined): void;
  /** The device of this stream is known. */
  identified(stream: StreamSubject): void;
  /** Something passed on this stream. */
  passed(stream: StreamSubject): void;
  /** A finding in the audio of a side. */
  heard(side: Side, stream: StreamSubject, finding: VoiceFinding, remark: string): void;
  /** The pace of its device is known, or has changed. */
  paced(stream: StreamSubject): void;
  ended(stream: StreamSubject): void;
  /** How much was found against the sides. */
  counts(): JudgementCounts;
  close(): void;
}

export interface JudgeOptions {
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
/** Devices that are remembered. */
const maxDevices = 200;

interface Dossier {
  tokens: { id: string; seen: SeenTokenRequest }[];
  open: Set<StreamSubject>;
  ended: StreamSubject[];
}

const catalogues: Readonly<Record<Side, readonly Rule[]>> = { service: serviceRules, device: deviceRules };
const sides = ['service', 'device'] as const;
/** The rule about the audio of each side. */
const audioRule = { service: 'R38', device: 'D5' } as const;

export function createJudge({ clock, events, isStrict }: JudgeOptions): Judge {
  const dossiers = new Map<string, Dossier>();
  const book = createJudgementBook({ events, isStrict });
  const timers = new Map<StreamSubject, ClockTimer>();
  let tokens = 0;

  const dossierOf = (name: string): Dossier => {
    const known = dossiers.get(name) ?? { tokens: [], open: new Set(), ended: [] };
    dossiers.delete(name);
    dossiers.set(name, known);
    for (const [oldest, { open }] of dossiers) {
      if (dossiers.size <= maxDevices) break;
      if (open.size === 0) dossiers.delete(oldest);
    }
    return known;
  };

  const note = (side: Side, rule: Rule, finding: Finding | undefined, device: string | undefined) => {
    const verdict = finding?.verdict;
    if (finding === undefined || (verdict !== 'fail' && verdict !== 'warn' && verdict !== 'observed')) return;
    const streams = finding.evidence.flatMap((id) => (id.startsWith('S') ? [Number(id.slice(1))] : []));
    const about = {
      side,
      rule: rule.id,
      message: rule.title,
      value: finding.message,
      isFault: verdict === 'fail',
    };
    const subjects = streams.length > 0 ? streams : [undefined];
    for (const stream of subjects) book.note({ ...about, stream, device, count: finding.evidence.length });
  };

  /** `subject`: its audio is judged too, at its end. */
  const judge = ({
    owner,
    device,
    subject,
    isWhole = true,
  }: Pick<StreamSubject, 'owner' | 'device'> & { subject?: StreamSubject; isWhole?: boolean }) => {
    const dossier = isWhole ? dossierOf(owner) : newest(dossierOf(owner));
    for (const side of sides) {
      const seen = gather(dossier, side, subject);
      for (const rule of catalogues[side]) {
        const isOfAudio = subject !== undefined && rule.id === audioRule[side];
        if (isOfAudio && (!isWhole || (side === 'service' && subject.hearsWrongAudio))) continue;
        note(side, rule, isOfAudio ? judgeVoice(side, subject, seen) : rule.judge(seen), device);
      }
    }
  };

  return {
    token(seen, device) {
      tokens += 1;
      const owner = ownerOf(device);
      const dossier = dossierOf(owner);
      dossier.tokens.push({ id: `T${tokens}`, seen });
      if (dossier.tokens.length > maxTokens) dossier.tokens.shift();
      judge({ owner, device });
    },
    identified(stream) {
      dossierOf(stream.owner).open.add(stream);
    },
    passed(stream) {
      if (timers.has(stream)) return;
      const look = () => {
        timers.delete(stream);
        judge({ owner: stream.owner, device: stream.device, subject: stream, isWhole: false });
      };
      timers.set(stream, clock.after(judgeEveryMs, look, { background: true }));
    },
    heard(side, stream, finding, remark) {
      if (!isWrongFormat(finding) || (side === 'service' && stream.hearsWrongAudio)) return;
      const rule = catalogues[side].find(({ id }) => id === audioRule[side]);
      if (rule === undefined) return;
      const { id, device } = stream;
      const about = { side, rule: rule.id, message: rule.title, value: remark, isFault: true };
      book.note({ ...about, stream: id, device, count: 1 });
    },
    paced(stream) {
      const rule = catalogues.device.find(({ id }) => id === audioRule.device);
      const own = { id: `S${stream.id}`, exchange: stream.seenBy('device').exchange() };
      if (rule !== undefined) note('device', rule, judgeVoice('device', stream, [own]), stream.device);
    },
    ended(stream) {
      const dossier = dossierOf(stream.owner);
      timers.get(stream)?.cancel();
      timers.delete(stream);
      judge({ owner: stream.owner, device: stream.device, subject: stream });
      dossier.open.delete(stream);
      for (const side of sides) stream.seenBy(side).dropAudio();
      dossier.ended.push(stream);
      if (dossier.ended.length > maxEnded) dossier.ended.shift();
    },
    counts: book.counts,
    close() {
      for (const timer of timers.values()) timer.cancel();
    },
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
  const streams = [...ended, ...open];
  if (subject !== undefined && !streams.includes(subject)) streams.push(subject);
  return [
    ...tokens.flatMap(({ id, seen }) => {
      const exchange = seen[side];
      return exchange === undefined ? [] : [{ id, exchange }];
    }),
    ...streams.map((stream) => {
      const exchange = stream.seenBy(side).exchange();
      return { id: `S${stream.id}`, exchange: stream === subject ? exchange : withoutAudio(exchange) };
    }),
  ];
}

function withoutAudio(exchange: StreamExchange): StreamExchange {
  return { ...exchange, messages: exchange.messages.filter((message) => !('data' in message)) };
}

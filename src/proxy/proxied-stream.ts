import type { ListenerBudget } from '../audio/verdict/listener-budget.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/promises.ts';
import type { Redactor } from '../kernel/redact.ts';
import { shortText } from '../kernel/short-text.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import type { TokenClaims } from '../protocol/claims.ts';
import { closeCodeName, closeCodes } from '../protocol/close-codes.ts';
import type { TemplateValues } from '../protocol/dialect/templates.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { createMessageReader, type ReplyState, writeStatus } from '../protocol/messages.ts';
import { unusualKind } from '../protocol/read-message.ts';
import type { ControlledStream } from '../service/control/stream-actions.ts';
import type { StreamTotals } from '../service/events.ts';
import type { Faults } from '../service/faults/faults.ts';
import { bugOf, closeAfterBug, guardClock } from '../service/guard.ts';
import type { Random } from '../service/random.ts';
import type { SlotLease } from '../service/state/state.ts';
import { lostOnTheWay, lostToBoth, type OwnLateness } from '../service/streams/lost-time.ts';
import { checkClose, createMessageValues } from '../service/streams/open-stream.ts';
import { createSpeaker } from '../service/streams/speaker.ts';
import type { Side, StreamEnd, TokenFacts, Upgrade } from '../wire/exchange.ts';
import type { Pulse } from '../wire/pulse.ts';
import type { UnfinishedMessages } from '../wire/server/unfinished.ts';
import type { Tap } from '../wire/tap.ts';
import type { EvidenceBudget } from './evidence.ts';
import { type Joined, type JoinedEnd, joinLegs } from './join-legs.ts';
import { ownerOf, type ProxyJudge, type StreamSubject } from './judge.ts';
import { issuedClaims, type TokenMatches } from './match-tokens.ts';
import { type Leg, sides, type WaitingBytes } from './passage.ts';
import type { ProxyEvents } from './proxy-events.ts';
import { injectText, type SpoilStreamOptions, type StreamSpoiler, spoilStream } from './spoil-stream.ts';
import { StreamWitness } from './stream-witness.ts';
import { createLanes, type Lanes } from './voice-lane.ts';

export interface SharedByStreams {
  clock: Clock;
  /** The machine's clock: audio is heard when it arrives. */
  baseClock: Clock;
  dialect: Dialect;
  random: Pick<Random, 'id'>;
  events: ProxyEvents;
  faults: Faults;
  pulse: Pulse;
  judge: ProxyJudge;
  /** The time in which this process did not run. */
  own: OwnLateness;
  /** Limits how many voices are listened to at once. */
  listeners: ListenerBudget;
  matches: TokenMatches;
  evidence: EvidenceBudget;
  unfinished: UnfinishedMessages;
  waiting: WaitingBytes;
  /** Counts the connection if there is room for it. The service decides whether it is allowed. */
  leaseSlot(device: string): SlotLease | undefined;
  /** Remembers that a token was accepted. */
  spendToken(token: TokenClaims): void;
}

export interface ProxiedStreamOptions extends SharedByStreams {
  id: number;
  remote: string;
  device: Leg;
  service: Leg;
  upgrade: Upgrade;
  /** Knows all secrets, and learns the token. */
  redactor: Redactor;
  tap: Tap | undefined;
  /** How many streams of this device are open, including this one. */
  countOf(device: string): number;
  onEnd(): void;
}

/** A stream between a device and the service. */
export class ProxiedStream implements ControlledStream {
  readonly joined: Joined;
  readonly witness: StreamWitness;
  readonly subject: StreamSubject;
  private readonly ending = createDeferred();
  readonly hasEnded = this.ending.promise;
  private readonly options: ProxiedStreamOptions;
  private readonly facts: StreamFacts;
  private readonly unwatch: () => void;
  private readonly lanes: Lanes;
  private readonly spoiler: StreamSpoiler;
  private readonly substitute: Substitute;
  private slot: SlotLease | undefined;
  private isConfirmed = false;
  private readonly readText = createMessageReader();
  private readonly values: TemplateValues;

  constructor(given: ProxiedStreamOptions) {
    const onThrown = (thrown: unknown) => this.fail(thrown);
    const options = {
      ...given,
      clock: guardClock(given.clock, onThrown),
      baseClock: guardClock(given.baseClock, onThrown),
    };
    this.options = options;
    const { id, remote, device, service, clock, baseClock, dialect, events, judge } = options;
    this.facts = new StreamFacts(options);
    this.lanes = createLanes({
      clock: baseClock,
      listeners: options.listeners,
      shortestTurnMs: dialect.stream.shortestTurnMs,
      own: {
        device: lostOnTheWay(lostToBoth(options.own, device.socket), device.transport),
        service: lostToBoth(options.own, service.socket),
      },
      events,
      at: () => ({ stream: id, device: this.facts.named }),
      onFinding: (side, { finding, remark }) => judge.heard(side, this.subject, finding, remark),
      onPace: (side) => side === 'device' && judge.paced(this.subject),
    });
    this.witness = new StreamWitness({
      ...{ clock: baseClock, redactor: options.redactor, lanes: this.lanes },
      ...{ upgrade: options.upgrade, budget: options.evidence, tap: options.tap },
      onToken: (token) => this.presented(token),
      onText: (from, text, bytes) => this.text(from, text, bytes),
    });
    this.subject = createSubject(id, {
      ...{ facts: this.facts, witness: this.witness, lanes: this.lanes },
      failed: onThrown,
    });
    this.unwatch = options.own.watch();
    judge.opened(id);
    events.of.device.emit({ type: 'stream-opened', stream: id, remote });
    const { close, reason } = dialect.stream.closes.slowReader;
    this.joined = joinLegs({
      ...{ device, service, clock: baseClock, watch: this.witness, waiting: options.waiting },
      slowReader: { close, reason },
      onEnding: (end) => this.witness.closed(this.endOf(end), end.isOurs),
      onEnd: (end) => this.end(end),
    });
    for (const side of sides) {
      const { socket, transport } = options[side];
      options.unfinished.watch(socket, transport, (why) => this.refuseUnfinished(why));
    }
    const { totals } = this.facts;
    this.values = createMessageValues({ stream: id, totals, random: options.random, clock });
    const { joined, witness, values } = this;
    this.spoiler = spoilStream({
      ...{ joined, witness, clock, dialect, values, faults: options.faults, legs: { device, service } },
      subject: () => ({ stream: id, device: totals.device }),
      onFault() {
        totals.cause ??= 'fault';
      },
    });
    this.substitute = createSubstitute({ joined, witness, values, dialect, pulse: options.pulse, onThrown });
    for (const { socket } of [device, service]) Object.assign(socket, { onThrown, clock: baseClock });
  }

  get claims(): Record<string, unknown> | undefined {
    return this.facts.token?.claims;
  }

  get live(): ControlledStream['live'] {
    return this.isConfirmed ? { voice: this.substitute.voice, reply: {} } : undefined;
  }

  get connection(): ControlledStream['connection'] {
    const { facts, lanes, joined, witness, values } = this;
    const { id, remote, judge } = this.options;
    const { totals } = facts;
    lanes.count(totals);
    return {
      ...{ id, remote, totals, values },
      durationMs: () => facts.durationMs(),
      device: {
        verdict() {
          const verdict = lanes.device.check.verdict();
          const held = judge.heldAgainst(id);
          const { advice: _, ...rest } = verdict;
          return held.length === 0 ? verdict : { ...rest, remarks: [...held, ...verdict.remarks] };
        },
      },
      levels: () => ({
        inDbfs: lanes.device.check.level.read(),
        outDbfs: lanes.service.check.level.read(),
      }),
      sendText: (text) => injectText({ joined, witness }, 'device', text),
      closeWith(code, reason, cause = 'control') {
        checkClose(code, reason);
        totals.cause ??= cause;
        joined.close(code, reason);
      },
    };
  }

  private presented(token: TokenFacts): void {
    const { judge } = this.options;
    this.facts.presented(token);
    judge.identified(this.subject);
    judge.passed(this.subject);
  }

  private text(from: Side, text: string, bytes: number): void {
    const { id, events, judge } = this.options;
    const at = { stream: id, device: this.facts.named };
    judge.passed(this.subject);
    if (from === 'device') {
      events.of.device.emit({ type: 'text-received', ...at, bytes });
      return;
    }
    const message = this.readText(text);
    if (message.category === 'connected' && !this.isConfirmed) this.confirm();
    events.of.service.emit({ type: 'message-sent', ...at, body: message.body, ...unusualKind(message) });
  }

  private confirm(): void {
    const { id: stream, events, leaseSlot, spendToken, countOf } = this.options;
    const { named: device, totals, token } = this.facts;
    this.isConfirmed = true;
    if (token !== undefined) spendToken(issuedClaims(token, device));
    this.slot = leaseSlot(device);
    this.spoiler.confirmed();
    const connections = countOf(device);
    const jti = totals.jti ?? '';
    events.of.service.emit({ type: 'stream-authorised', stream, device, jti, connections });
  }

  private refuseUnfinished(why: string): void {
    const { totals } = this.facts;
    totals.cause ??= 'protocol-error';
    totals.why ??= why;
    this.joined.close(closeCodes.messageTooBig, closeCodeName(closeCodes.messageTooBig));
  }

  /** A handler of this stream threw: both sides are closed, once. */
  private fail(thrown: unknown): void {
    const { id, remote, events, redactor, device, service } = this.options;
    const { totals } = this.facts;
    if (totals.cause === 'bug') return;
    totals.cause = 'bug';
    events.emit(bugOf(thrown, { stream: id, remote }, { redact: redactor.text }));
    closeAfterBug([device.socket, service.socket], (code, reason) => this.joined.close(code, reason));
  }

  private end(end: JoinedEnd): void {
    const { facts, options } = this;
    try {
      this.judgeEnd(end);
    } finally {
      // Even if judging throws: the stream is over.
      const { by, isOurs } = end;
      const source = isOurs ? options.events : options.events.of[by];
      const { findings, remarks } = this.lanes.device.check.verdict();
      source.emit({ type: 'stream-closed', ...facts.totals, findings, remarks });
      this.slot?.release();
      this.unwatch();
      options.onEnd();
      this.ending.resolve();
    }
  }

  private endOf({ at, by, code, reason, violation }: JoinedEnd): StreamEnd {
    const breakdown = violation && { code: 'protocol-violation' as const, ...violation };
    return { at, by, code, reason: this.options.redactor.text(reason), breakdown };
  }

  private judgeEnd(joinedEnd: JoinedEnd): void {
    const { judge } = this.options;
    const { facts, lanes, witness } = this;
    const { violation } = joinedEnd;
    const { totals } = facts;
    this.spoiler.end();
    this.substitute.stop();
    lanes.close();
    const end = this.endOf(joinedEnd);
    lanes.count(totals);
    const reason = end.reason === '' ? (violation?.message ?? '') : end.reason;
    Object.assign(totals, { code: end.code, reason, durationMs: facts.durationMs(end.at) });
    if (violation !== undefined) totals.cause ??= 'protocol-error';
    if (witness.unjudged > 0) totals.unjudged = witness.unjudged;
    judge.ended(this.subject);
    witness.reportEnd(end);
    witness.release();
  }
}

/** The owner of a stream, and its totals. */
class StreamFacts {
  readonly totals: StreamTotals;
  /** The token that was presented. */
  token: TokenFacts | undefined;
  private readonly options: Pick<ProxiedStreamOptions, 'id' | 'baseClock' | 'matches' | 'remote'>;
  private readonly startedAt: number;

  constructor(options: ProxiedStreamOptions) {
    this.options = options;
    this.startedAt = options.baseClock.now();
    this.totals = {
      ...{ stream: options.id, device: undefined, jti: undefined, code: 0, reason: '', durationMs: 0 },
      ...{ framesIn: 0, bytesIn: 0, framesOut: 0, bytesOut: 0, oddMessages: 0, emptyMessages: 0 },
    };
  }

  /** The name of the device; empty while it is not known. */
  get named(): string {
    return this.totals.device ?? '';
  }

  get owner(): string {
    const { id, matches, remote } = this.options;
    const hash = this.token?.hash ?? `of stream ${id}`;
    return ownerOf(this.totals.device ?? matches.onlyDeviceAt(remote), hash);
  }

  durationMs(at = this.options.baseClock.now()): number {
    return Math.round(at - this.startedAt);
  }

  presented(token: TokenFacts): void {
    const { claims } = token;
    this.token = token;
    this.totals.device = this.options.matches.deviceOf(token);
    if (typeof claims?.jti === 'string') this.totals.jti = shortText(claims.jti);
  }
}

/** The stream as the judge sees it. */
function createSubject(
  id: number,
  stream: { facts: StreamFacts; witness: StreamWitness; lanes: Lanes; failed: (thrown: unknown) => void },
): StreamSubject {
  const { facts, witness, lanes, failed } = stream;
  return {
    id,
    failed,
    get device() {
      return facts.totals.device;
    },
    get owner() {
      return facts.owner;
    },
    get isPartial() {
      return witness.isPartial;
    },
    get hearsSpoiltAudio() {
      return witness.hasSpoiltVoice;
    },
    seenBy: (side) => witness.seenBy(side),
    heard(side) {
      const { check, frames, bytes } = lanes[side];
      return frames === 0 ? undefined : { check, count: frames, audioMs: msForBytes(bytes) };
    },
  };
}

interface SubstituteOptions extends Pick<SpoilStreamOptions, 'joined' | 'witness' | 'values' | 'dialect'> {
  pulse: Pulse;
  onThrown: (thrown: unknown) => void;
}

type Substitute = ReturnType<typeof createSubstitute>;

/** Speaks in place of the service, for the control API. */
function createSubstitute({ joined, witness, values, dialect, pulse, onThrown }: SubstituteOptions) {
  const speaker = createSpeaker({
    ...{ pulse, onThrown },
    frameBytes: bytesForMs(dialect.stream.replyFrameMs),
    send(pcm) {
      witness.delivered('service', pcm, true, true);
      joined.passages.service.send(pcm, true);
    },
    onEnd() {},
  });
  return {
    stop: () => speaker.stop(),
    voice: {
      get speaking() {
        return speaker.speaking;
      },
      say: speaker.say,
      status: (state: ReplyState) =>
        injectText({ joined, witness }, 'device', writeStatus(dialect, state, values)),
    },
  };
}

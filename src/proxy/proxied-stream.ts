import { isWrongFormat } from '../audio/verdict/voice-findings.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Redactor } from '../kernel/redact.ts';
import { bytesForMs, msForBytes } from '../protocol/audio-format.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { type ReplyState, readServiceMessage, writeStatus } from '../protocol/messages.ts';
import type { ControlledStream } from '../service/control/stream-actions.ts';
import type { StreamTotals } from '../service/events.ts';
import type { Faults } from '../service/faults/faults.ts';
import type { Random } from '../service/random.ts';
import type { SlotLease } from '../service/state/state.ts';
import { createMessageValues } from '../service/streams/message-values.ts';
import { checkClose } from '../service/streams/open-stream.ts';
import { createSpeaker } from '../service/streams/speaker.ts';
import type { Side, TokenFacts, Upgrade } from '../wire/exchange.ts';
import type { Pulse } from '../wire/pulse.ts';
import { Line } from '../wire/server/network/line.ts';
import type { Tap } from '../wire/tap.ts';
import { type Joined, type JoinedEnd, joinLegs } from './join-legs.ts';
import { type Judge, ownerOf, type StreamSubject } from './judge.ts';
import { requestedDevice, type TokenMatches } from './match-tokens.ts';
import type { Leg } from './passage.ts';
import type { ProxyEvents } from './proxy-events.ts';
import { inject, spoilStream } from './spoil-stream.ts';
import { StreamWitness } from './stream-witness.ts';
import { type LaneListener, VoiceLane } from './voice-lane.ts';

export interface ProxiedStreamOptions {
  id: number;
  remote: string;
  device: Leg;
  service: Leg;
  upgrade: Upgrade;
  clock: Clock;
  /** The machine's: audio is heard when it arrives. */
  baseClock: Clock;
  dialect: Dialect;
  random: Pick<Random, 'id'>;
  events: ProxyEvents;
  /** Knows what grants access, and learns the token. */
  redactor: Redactor;
  faults: Faults;
  pulse: Pulse;
  judge: Judge;
  matches: TokenMatches;
  tap: Tap | undefined;
  /** Counts the connection, as far as there is room for it: the service decides. */
  leaseSlot(device: string): SlotLease | undefined;
  /** How many streams of this device are open, this one among them. */
  countOf(device: string): number;
  onEnd(): void;
}

/** A stream between a device and the service. */
export interface ProxiedStream extends ControlledStream {
  readonly joined: Joined;
  readonly witness: StreamWitness;
  readonly subject: StreamSubject;
  readonly hasEnded: Promise<void>;
}

/** Broken rules that a stream remembers for those who look. */
const maxBroken = 20;

export function createProxiedStream(options: ProxiedStreamOptions): ProxiedStream {
  const { id, remote, clock, baseClock, dialect, events, judge, redactor, tap, upgrade } = options;
  const startedAt = baseClock.now();
  const durationMs = () => Math.round(baseClock.now() - startedAt);
  const totals: StreamTotals = {
    ...{ stream: id, device: undefined, jti: undefined, code: 0, reason: '', durationMs: 0 },
    ...{ framesIn: 0, bytesIn: 0, framesOut: 0, bytesOut: 0, oddMessages: 0, emptyMessages: 0 },
  };
  let isConfirmed = false;
  let claims: Record<string, unknown> | undefined;
  let presentedHash = `of stream ${id}`;
  let slot: SlotLease | undefined;
  /** What was held against either side, for people. */
  const broken: string[] = [];
  const stopWatching = events.subscribe((event) => {
    if (event.type === 'violation' && event.stream === id && broken.length < maxBroken)
      broken.push(`${event.side} breaks ${event.rule}: ${event.value}`);
  });
  const named = () => totals.device ?? '';

  const onToken = ({ claims: presented, hash }: TokenFacts) => {
    claims = presented;
    const granted = options.matches.find(hash);
    const asked = granted && requestedDevice(granted);
    presentedHash = hash;
    totals.device = asked ?? (typeof presented?.sub === 'string' ? presented.sub : undefined);
    if (typeof presented?.jti === 'string') totals.jti = presented.jti;
    judge.identified(subject);
    judge.passed(subject);
  };
  const onText = (from: Side, text: string) => {
    const at = { stream: id, device: named() };
    judge.passed(subject);
    if (from === 'device') {
      events.of.device.emit({ type: 'text-received', ...at, bytes: Buffer.byteLength(text) });
      return;
    }
    const { category, body } = readServiceMessage(text);
    if (category === 'connected' && !isConfirmed) {
      isConfirmed = true;
      slot = options.leaseSlot(named());
      spoiler.confirmed();
      const connections = options.countOf(named());
      events.of.service.emit({ type: 'stream-authorised', ...at, jti: totals.jti ?? '', connections });
    }
    events.of.service.emit({ type: 'message-sent', ...at, body });
  };

  const lanes = { device: createLane('device'), service: createLane('service') };
  const witness = new StreamWitness({ clock: baseClock, redactor, upgrade, tap, lanes, onToken, onText });
  const subject: StreamSubject = {
    id,
    get device() {
      return totals.device;
    },
    get owner() {
      return ownerOf(totals.device ?? options.matches.onlyDeviceAt(remote), presentedHash);
    },
    get hearsWrongAudio() {
      return witness.hasSpoiltVoice || lanes.device.check.verdict().findings.some(isWrongFormat);
    },
    seenBy: (side) => witness.seenBy(side),
    heard(side) {
      const { check, frames, bytes } = lanes[side];
      // A network that the proxy imitates is nobody's fault.
      return frames === 0 || options[side].transport instanceof Line
        ? undefined
        : { check, count: frames, audioMs: msForBytes(bytes) };
    },
  };
  events.of.device.emit({ type: 'stream-opened', stream: id, remote });

  function createLane(side: Side): VoiceLane {
    let turnStartMs = 0;
    const at = () => ({ stream: id, device: named() });
    const listener: LaneListener = {
      speech(event) {
        const { atMs } = event;
        if (side === 'service') {
          const body =
            event.type === 'speech-start'
              ? { type: 'reply-started' as const }
              : { type: 'reply-ended' as const, bargeIn: false };
          events.of.service.emit({ ...body, ...at() });
        } else if (event.type === 'speech-start') {
          turnStartMs = atMs;
          events.of.device.emit({ type: 'turn-started', ...at(), atMs });
        } else events.of.device.emit({ type: 'turn-ended', ...at(), atMs, turnMs: atMs - turnStartMs });
      },
      finding({ finding, remark }) {
        // A service that echoes its device is not to blame for what comes back.
        if (side === 'service' && lanes.device.check.verdict().findings.includes(finding)) return;
        events.of[side].emit({ type: 'device-finding', ...at(), finding, remark });
        judge.heard(side, subject, finding, remark);
      },
      pace() {
        const verdict = lanes[side].check.judgePace();
        if (verdict === undefined) return;
        events.of[side].emit({ type: 'device-verdict', ...at(), ...verdict });
        if (side === 'device') judge.paced(subject);
      },
    };
    return new VoiceLane(side, baseClock, listener);
  }

  let ended: () => void = () => {};
  const hasEnded = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const count = () => {
    const { device, service } = lanes;
    totals.framesIn = device.frames;
    totals.bytesIn = device.bytes;
    totals.framesOut = service.frames;
    totals.bytesOut = service.bytes;
    totals.oddMessages = device.oddMessages + service.oddMessages;
    totals.emptyMessages = device.emptyMessages + service.emptyMessages;
  };
  const onEnd = ({ by, code, reason, violation, isOurs }: JoinedEnd) => {
    spoiler.end();
    speaker.stop();
    lanes.device.close();
    lanes.service.close();
    const text = redactor.text(reason);
    const breakdown =
      violation === undefined ? undefined : { code: 'protocol-violation' as const, message: violation };
    const end = { at: baseClock.now(), by, code, reason: text, breakdown };
    witness.closed(end, isOurs);
    count();
    Object.assign(totals, { code, reason: text === '' ? (violation ?? '') : text, durationMs: durationMs() });
    if (violation !== undefined) totals.cause ??= 'protocol-error';
    judge.ended(subject);
    witness.tellEnd(end);
    const source = isOurs ? events : events.of[by];
    const remarks = lanes.device.check.verdict().remarks;
    source.emit({ type: 'stream-closed', ...totals, remarks });
    slot?.release();
    stopWatching();
    options.onEnd();
    ended();
  };

  const { close: slowClose, reason: slowReason } = dialect.stream.closes.slowReader;
  const joined = joinLegs({
    device: options.device,
    service: options.service,
    clock: baseClock,
    watch: witness,
    slowReader: { close: slowClose, reason: slowReason },
    onEnd,
  });
  const values = createMessageValues({ stream: id, totals, random: options.random, clock });
  const spoiler = spoilStream({
    ...{ joined, witness, clock, dialect, values, faults: options.faults },
    legs: { device: options.device, service: options.service },
    subject: () => ({ stream: id, device: totals.device }),
    onFault() {
      totals.cause ??= 'fault';
    },
  });
  const speaker = createSpeaker({
    pulse: options.pulse,
    frameBytes: bytesForMs(dialect.stream.replyFrameMs),
    send(pcm) {
      witness.delivered('service', pcm, true, true);
      joined.passages.service.send(pcm, true);
    },
    onEnd() {},
  });
  /** Speaks in place of the service, for the control API. */
  const voice = {
    get speaking() {
      return speaker.speaking;
    },
    say: speaker.say,
    status: (state: ReplyState) => inject({ joined, witness }, 'device', writeStatus(dialect, state, values)),
  };
  return {
    joined,
    witness,
    subject,
    hasEnded,
    get claims() {
      return claims;
    },
    connection: {
      id,
      remote,
      get totals() {
        count();
        return totals;
      },
      durationMs,
      device: {
        verdict() {
          const verdict = lanes.device.check.verdict();
          return { ...verdict, remarks: [...broken, ...verdict.remarks] };
        },
      },
      levels: () => ({
        inDbfs: lanes.device.check.level.read(),
        outDbfs: lanes.service.check.level.read(),
      }),
      values,
      sendText: (text) => inject({ joined, witness }, 'device', text),
      closeWith(code, reason, cause = 'control') {
        checkClose(code, reason);
        totals.cause ??= cause;
        joined.close(code, reason);
      },
    },
    get live() {
      return isConfirmed ? { voice, reply: {} } : undefined;
    },
  };
}

import type { Clock } from '../kernel/clock.ts';
import type { Redactor } from '../kernel/redact.ts';
import { holdsBinaryToken } from '../protocol/first-message.ts';
import { concealText } from '../wire/conceal.ts';
import type { Side, StreamEnd, StreamExchange, TokenFacts, Upgrade, WireMessage } from '../wire/exchange.ts';
import { joinTaps, type Tap } from '../wire/tap.ts';
import { readPresented } from '../wire/token-facts.ts';
import { createEvidence, type Evidence, type EvidenceBudget, shortenText } from './evidence.ts';
import { otherSide, type PassageWatch } from './passage.ts';
import type { VoiceLane } from './voice-lane.ts';

export interface WitnessOptions {
  clock: Clock;
  redactor: Redactor;
  upgrade: Upgrade;
  budget: EvidenceBudget;
  /** Observes the stream as the device sees it. */
  tap: Tap | undefined;
  /** The audio that each side sends. */
  lanes: Readonly<Record<Side, VoiceLane>>;
  onToken(token: TokenFacts): void;
  /** Called with each text message after the token: without secrets, and shortened if it is long. */
  onText(from: Side, text: string, bytes: number): void;
}

/** Longest text that is read. Longer ones pass unchanged, and are only counted. */
const readTextBytes = 1024 * 1024;
/** How much of the first message is read, which is a token: as much as of an answer that grants one. */
const readTokenBytes = 2 * 1024 * 1024;

/**
 * The traffic of a stream as each side sees it. Both views are the same until a fault changes something. A class, because
 * every frame passes through it: see ARCHITECTURE.md.
 */
export class StreamWitness implements PassageWatch {
  private readonly options: WitnessOptions;
  private taps: readonly Tap[];
  /** All taps as one. */
  private tap: Tap | undefined;
  /** Whether the device has presented a token. */
  hasToken = false;
  /** Whether a fault changed audio of the device. */
  hasSpoiltVoice = false;
  /** Messages other than audio that the rules do not see unchanged, because there are too many or they are too long. */
  unjudged = 0;
  private service: Evidence;
  private device: Evidence;

  constructor(options: WitnessOptions) {
    this.options = options;
    this.service = createEvidence(options.upgrade, options.budget);
    this.device = this.service;
    this.taps = options.tap === undefined ? [] : [options.tap];
    this.tap = options.tap;
    options.tap?.opened?.(options.upgrade);
  }

  /** Adds a tap to the stream, which sees the upgrade if `isNew`. Call the result to remove it. */
  observe(tap: Tap, isNew: boolean): () => void {
    if (isNew) tap.opened?.(this.options.upgrade);
    const use = (taps: readonly Tap[]) => {
      this.taps = taps;
      this.tap = taps.length > 1 ? joinTaps(...taps) : taps[0];
    };
    use([...this.taps, tap]);
    return () => use(this.taps.filter((one) => one !== tap));
  }

  /** The stream as this side sees it. */
  seenBy(side: Side): StreamExchange {
    return (side === 'service' ? this.service : this.device).exchange();
  }

  /** Whether the view of either side lacks something that rules need. */
  get isPartial(): boolean {
    return this.service.isPartial || this.device.isPartial;
  }

  /** The stream has ended, and was judged. */
  release(): void {
    this.service.release();
    this.device.release();
  }

  /** A message that is passed on unchanged. */
  passed(from: Side, data: Buffer, isBinary: boolean): void {
    if (isBinary && (this.hasToken || from === 'service' || !holdsBinaryToken(data))) {
      const { lanes } = this.options;
      lanes[from].push(data);
      if (from === 'device') lanes.service.otherSaid(data);
      const isWanted = this.service.wantsAudio(from) || this.device.wantsAudio(from);
      if (!isWanted && this.tap === undefined) return;
      const at = this.options.clock.now();
      this.keep({ at, from, opcode: 'binary', data, bytes: data.length }, 'both');
      return;
    }
    this.keep(this.read(from, data, isBinary), 'both');
  }

  /** A message as it arrives, before faults change it. */
  arrived(from: Side, data: Buffer, isBinary: boolean): void {
    this.fork();
    const message = this.read(from, data, isBinary);
    if (message !== undefined && 'data' in message) this.options.lanes[from].push(data);
    this.keep(message, from);
  }

  /** The presented token never reaches the service: a fault refused it instead. */
  presentedInVain(): void {
    this.fork();
    this.service.forgetToken();
  }

  /** A message that is sent to the other side: changed, late, or invented. */
  delivered(from: Side, data: Buffer, isBinary: boolean, isInjected: boolean): void {
    this.fork();
    const { clock, redactor } = this.options;
    const [at, bytes] = [clock.now(), data.length];
    const injected = isInjected ? { injected: true as const } : {};
    const to = otherSide[from];
    if (isBinary && from === 'device') {
      this.options.lanes.service.otherSaid(data);
      if (isInjected) this.hasSpoiltVoice = true;
    }
    if (isBinary) this.keep({ at, from, opcode: 'binary', data, bytes, ...injected }, to);
    else if (!this.mayRead(bytes)) this.keep(undefined, to);
    else {
      const text = concealText(data.toString(), redactor);
      this.keep({ at, from, opcode: 'text', text, bytes, ...injected }, to);
    }
  }

  control(from: Side, opcode: 'ping' | 'pong', bytes: number): void {
    this.keep({ at: this.options.clock.now(), from, opcode, bytes }, 'both');
  }

  /** `isOurs`: the proxy ended it, so each side sees the other one as the end that closed. */
  closed(end: StreamEnd, isOurs: boolean): void {
    if (isOurs) this.fork();
    this.service.close(isOurs ? { ...end, by: 'device' } : end);
    if (this.device !== this.service) this.device.close(isOurs ? { ...end, by: 'service' } : end);
  }

  /** Reports the end to the tap, after the stream was judged. */
  reportEnd(end: StreamEnd): void {
    this.tap?.closed?.(end);
  }

  /** From now on the two sides see different things. */
  private fork(): void {
    if (this.device === this.service) this.device = this.service.fork();
  }

  /** With an observer, texts of any length are read. */
  private mayRead(bytes: number): boolean {
    return bytes <= readTextBytes || this.tap !== undefined;
  }

  /** `message`: undefined for a text that was not read. */
  private keep(message: WireMessage | undefined, by: Side | 'both'): void {
    if (message === undefined) {
      this.unjudged += 1;
      return;
    }
    const isKept = by === 'device' || this.service.add(message);
    const isKeptByDevice = by === 'service' || this.device === this.service || this.device.add(message);
    if (!(isKept && isKeptByDevice) && !('data' in message)) this.unjudged += 1;
    // The tap sees what the device sends and receives.
    if (by !== 'service') this.tap?.message?.(message);
  }

  /** A message as evidence. The first text of a device, or a JWT in a binary message, is a token. */
  private read(from: Side, data: Buffer, isBinary: boolean): WireMessage | undefined {
    const { clock, redactor, onToken, onText } = this.options;
    const [at, bytes] = [clock.now(), data.length];
    if (from === 'device' && !this.hasToken && (!isBinary || holdsBinaryToken(data))) {
      this.hasToken = true;
      const presented = readPresented(data.toString('utf8', 0, readTokenBytes), isBinary, redactor);
      onToken(presented.token);
      return { at, from, ...presented, bytes };
    }
    if (isBinary) return { at, from, opcode: 'binary', data, bytes };
    if (!this.mayRead(bytes)) {
      onText(from, `${bytes} bytes of text`, bytes);
      return undefined;
    }
    const text = concealText(data.toString(), redactor);
    onText(from, shortenText(text), bytes);
    return { at, from, opcode: 'text', text, bytes };
  }
}

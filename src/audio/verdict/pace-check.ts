import { type PaceMeasure, Span, ticksPerMs } from './span.ts';

/** Time in which this process did not run, and messages waited for it. */
export interface LostTime {
  /** So far. */
  readonly lostMs: number;
  /** How long a simulated network held the message that arrives now. */
  readonly heldMs?: number;
}

/** When a message arrived, by the machine's clock, and the time lost by then. */
export interface MessageArrival extends LostTime {
  readonly at: number;
}

/** Messages closer than this arrived together. A delayed device may send `tolerated` at once. */
const togetherMs = 2;
const tolerated = 3;

/** Measures the pace of one side, over the whole stream and recently. */
export class PaceCheck {
  private isFirst = true;
  private lastAt = 0;
  private lastBytes = 0;
  private lastLost = 0;
  private together = 0;
  /** Whether messages arrive together because they waited for this process. */
  private isExcused = false;
  private readonly whole = new Span();
  private readonly latest = new Span();
  private readonly own: LostTime;

  constructor(own: LostTime) {
    this.own = own;
  }

  /** Takes the size of a message that arrived at `now`, in milliseconds. `own`: the time lost by then, if that is past. */
  push(bytes: number, now: number, own = this.own): void {
    const at = Math.round((now - (own.heldMs ?? 0)) * ticksPerMs);
    const lostSoFar = Math.round(own.lostMs * ticksPerMs);
    if (this.isFirst) {
      this.isFirst = false;
      this.whole.begin(at);
      this.latest.begin(at);
    } else {
      const gap = at - this.lastAt;
      const lost = Math.min(gap, lostSoFar - this.lastLost);
      this.whole.add(at, gap, lost, this.lastBytes);
      this.latest.add(at, gap, lost, this.lastBytes);
      this.countBurst(gap, lost);
    }
    this.lastAt = at;
    this.lastBytes = bytes;
    this.lastLost = lostSoFar;
  }

  report(): PaceMeasure {
    return this.whole.report(this.lastAt);
  }

  /** The report on the time since the last `forget`. */
  latestReport(): PaceMeasure {
    return this.latest.report(this.lastAt);
  }

  /** Restarts the recent measurement. */
  forget(): void {
    this.latest.begin(this.lastAt);
  }

  /** Restarts everything: the next message begins another reply. */
  restart(): void {
    this.isFirst = true;
  }

  private countBurst(gap: number, lost: number): void {
    if (gap >= togetherMs * ticksPerMs) {
      this.together = 0;
      this.isExcused = lost > 0;
      return;
    }
    this.together += 1;
    if (this.isExcused || this.together <= tolerated) return;
    // When a burst is recognised, its earlier messages count too.
    const messages = this.together === tolerated + 1 ? tolerated + 2 : 1;
    this.whole.addBurst(messages);
    this.latest.addBurst(messages);
  }
}

import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { createSpeechGate, type GateEvent, turnHangOverMs } from './speech-gate.ts';

/** Times are milliseconds of audio since the stream began; `agoMs` is how long ago that was by the clock, rounded. */
export interface TurnListener {
  /** A sound has become a turn. */
  started(turn: { startMs: number; agoMs: number }): void;
  /** A turn has ended: a pause must follow before it is known. */
  ended(turn: { startMs: number; endMs: number; agoMs: number }): void;
}

export interface TurnGateOptions {
  clock: Clock;
  /** A shorter sound is not a turn. */
  shortestTurnMs: number;
}

/**
 * Turns in audio that arrives. A sound becomes a turn when it is long enough; a turn ends after a pause, or if nothing more
 * arrives for the length of that pause. A class, because every frame passes through it: see ARCHITECTURE.md.
 */
export class TurnGate {
  private readonly gate = createSpeechGate();
  private readonly clock: Clock;
  private readonly shortestMs: number;
  private readonly listener: TurnListener;
  /** `sound`: too short so far for a turn. `unheard`: the rest of a turn that was treated as ended. */
  private state: 'quiet' | 'sound' | 'turn' | 'unheard' = 'quiet';
  private startMs = 0;
  private lastAt = 0;
  private timer: ClockTimer | undefined;

  constructor(listener: TurnListener, { clock, shortestTurnMs }: TurnGateOptions) {
    this.listener = listener;
    this.clock = clock;
    this.shortestMs = shortestTurnMs;
  }

  /** Whether there is a sound, which may be a turn. */
  get speaking(): boolean {
    return this.gate.speaking;
  }

  /** Takes 16 kHz s16le mono in pieces of any size. */
  push(pcm: Buffer): void {
    this.lastAt = this.clock.now();
    for (const event of this.gate.push(pcm)) this.follow(event);
    this.lookForTurn(this.gate.lastVoicedMs);
    if (this.gate.speaking && this.timer === undefined) this.watchForSilence();
  }

  /** Treats the turn as ended, whatever else is said of it. Returns false if there is none. */
  endTurn(): boolean {
    if (this.state !== 'turn') return false;
    this.state = 'unheard';
    this.reportEnd(this.gate.positionMs);
    return true;
  }

  /** The audio has ended, and with it an open turn. */
  finish(): void {
    for (const event of this.gate.end()) this.follow(event);
  }

  close(): void {
    this.timer?.cancel();
  }

  private follow({ type, atMs }: GateEvent): void {
    if (type === 'speech-start') {
      this.startMs = atMs;
      this.state = 'sound';
      return;
    }
    this.lookForTurn(atMs);
    if (this.state === 'turn') this.reportEnd(atMs);
    this.state = 'quiet';
  }

  /** `voicedMs`: the end of the sound so far. */
  private lookForTurn(voicedMs: number): void {
    if (this.state !== 'sound' || voicedMs - this.startMs < this.shortestMs) return;
    this.state = 'turn';
    this.listener.started({ startMs: this.startMs, agoMs: this.agoMs(this.startMs) });
  }

  private reportEnd(endMs: number): void {
    this.listener.ended({ startMs: this.startMs, endMs, agoMs: this.agoMs(endMs) });
  }

  private agoMs(atMs: number): number {
    return Math.round(this.gate.positionMs - atMs + this.clock.now() - this.lastAt);
  }

  private watchForSilence(): void {
    const waitMs = this.lastAt + turnHangOverMs - this.clock.now();
    this.timer = this.clock.after(waitMs, () => this.lookForSilence(), { background: true });
  }

  private lookForSilence(): void {
    this.timer = undefined;
    if (!this.gate.speaking) return;
    if (this.clock.now() - this.lastAt < turnHangOverMs) this.watchForSilence();
    else this.finish();
  }
}

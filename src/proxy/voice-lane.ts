import { createSpeechGate, type GateEvent } from '../audio/speech-gate.ts';
import { type FoundInVoice, VoiceCheck } from '../audio/verdict/voice-check.ts';
import { type BlockJoiner, createBlockJoiner } from '../audio/whole-samples.ts';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { bytesPerSample } from '../protocol/audio-format.ts';
import type { Side } from '../wire/exchange.ts';

/** What is heard and found in the audio of one side. */
export interface LaneListener {
  speech(event: GateEvent): void;
  finding(found: FoundInVoice): void;
  /** It is time to judge the pace. */
  pace(): void;
}

/** A voice that sends nothing for this long has finished. */
const quietMs = 700;

/** The audio of one side: counted, judged and listened to. A class, because every frame passes it: see ARCHITECTURE.md. */
export class VoiceLane {
  readonly check: VoiceCheck;
  frames = 0;
  bytes = 0;
  oddMessages = 0;
  emptyMessages = 0;
  private readonly gate = createSpeechGate({ hangOverMs: quietMs });
  private readonly clock: Clock;
  private readonly listener: LaneListener;
  /** Created at the first message that ends within a sample. */
  private samples: BlockJoiner | undefined;
  private lastAt = 0;
  private timer: ClockTimer | undefined;

  constructor(from: Side, clock: Clock, listener: LaneListener) {
    this.clock = clock;
    this.listener = listener;
    this.check = new VoiceCheck({ from, clock });
  }

  take(message: Buffer): void {
    for (const found of this.check.push(message)) this.listener.finding(found);
    if (this.check.isDue) this.listener.pace();
    if (message.length === 0) {
      this.emptyMessages += 1;
      return;
    }
    this.frames += 1;
    this.bytes += message.length;
    this.lastAt = this.clock.now();
    for (const event of this.gate.push(this.wholeSamples(message))) this.listener.speech(event);
    if (this.gate.speaking && this.timer === undefined) this.watchForSilence();
  }

  private wholeSamples(message: Buffer): Buffer {
    const isOdd = message.length % bytesPerSample !== 0;
    if (isOdd) this.oddMessages += 1;
    if (!isOdd && this.samples === undefined) return message;
    this.samples ??= createBlockJoiner();
    return this.samples.push(message);
  }

  /** A turn also ends when nothing more arrives. */
  private watchForSilence(): void {
    this.timer = this.clock.after(
      this.lastAt + quietMs - this.clock.now(),
      () => {
        this.timer = undefined;
        if (!this.gate.speaking) return;
        if (this.clock.now() - this.lastAt < quietMs) this.watchForSilence();
        else this.finishTurn();
      },
      { background: true },
    );
  }

  private finishTurn(): void {
    for (const event of this.gate.end()) this.listener.speech(event);
  }

  close(): void {
    this.timer?.cancel();
    for (const found of this.check.end()) this.listener.finding(found);
    if (this.gate.speaking) this.finishTurn();
  }
}

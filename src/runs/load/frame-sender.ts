import type { Clock } from '../../kernel/clock.ts';
import type { FastStream } from '../../wire/client/fast-stream.ts';
import { audioOfFrame, type Clip, clipFrameMs } from './clip.ts';
import type { ReplyMeter } from './reply-meter.ts';
import type { Tally } from './tally.ts';

/** If more than this waits, the service does not read: further frames are counted, not sent. */
const maxWaitingBytes = 256 * 1024;

/** Sends the frames of one session: the clip while it speaks, otherwise silence. */
export class FrameSender {
  readonly #stream: FastStream;
  readonly #clip: Clip;
  readonly #tally: Tally;
  readonly #clock: Clock;
  readonly #meter: Pick<ReplyMeter, 'judges' | 'said'>;
  #next: number;
  #lastDue = Number.NaN;

  /** `meter`: it takes what is said, if it judges the voice that comes back. */
  constructor(
    stream: FastStream,
    { clip, tally, clock }: { clip: Clip; tally: Tally; clock: Clock },
    meter: Pick<ReplyMeter, 'judges' | 'said'>,
  ) {
    this.#stream = stream;
    this.#clip = clip;
    this.#tally = tally;
    this.#clock = clock;
    this.#meter = meter;
    this.#next = clip.frames.length;
  }

  /** Starts the clip from its beginning with the next frame. */
  speak(): void {
    this.#next = 0;
    this.#tally.counts.turns += 1;
  }

  /** Where in the clip its speech begins. */
  get speechStartMs(): number {
    return this.#clip.speechStart * clipFrameMs;
  }

  get isSpeaking(): boolean {
    return this.#next < this.#clip.frames.length;
  }

  /** Sends the frame that is due, the last one at `until`. Returns whether it carries the start or the end of the speech. */
  send(due: number, until = due): 'start' | 'end' | undefined {
    const { counts } = this.#tally;
    const missed = Math.round((Math.min(due, until) - this.#lastDue) / clipFrameMs) - 1;
    if (missed > 0) counts.framesMissed += missed;
    this.#lastDue = due;
    const at = this.#next;
    const frame = this.#clip.frames[at] ?? this.#clip.silence;
    this.#next += 1;
    this.#tally.late(this.#clock.now() - due);
    if (this.#stream.waitingBytes > maxWaitingBytes) counts.framesHeld += 1;
    else {
      this.#stream.send(frame);
      counts.framesOut += 1;
      if (this.#meter.judges) this.#meter.said(audioOfFrame(this.#clip, at), due);
    }
    if (at === this.#clip.speechEnd) return 'end';
    return at === this.#clip.speechStart ? 'start' : undefined;
  }
}

/** A loudspeaker that is open. It takes 20 ms at a time, when it wants them. */
export interface Speaker {
  readonly backend: string;
  /** Resolves when the next frame is wanted. Throws `audio-device` when the device is lost. */
  ready(): Promise<void>;
  /** 20 ms of 16 kHz s16le mono. */
  write(frame: Buffer): void;
  /** Rejects with `audio-device` when the device is lost; never resolves. */
  readonly lost: Promise<never>;
  /** How long the last frame takes to the ear, as far as that can be told. */
  readonly delayMs: number;
  /** How often the device had nothing to play, or was held up, in the middle of what it was given. */
  readonly holes: number;
  /** Audio that waited because the device was held up, since the last call: played now, all that follows would be late. */
  takeLateMs(): number;
  /** Lets it play what it has, and ends it. */
  finish(): Promise<void>;
  /** Ends it at once: it is silent, whatever it still had. */
  stop(): Promise<void>;
}

export const frameMs = 20;

/** An open loudspeaker. It takes 20 ms at a time, when it is ready. */
export interface Speaker {
  readonly backend: string;
  /** Resolves when it needs the next frame. Throws `audio-device` if the device is lost. */
  ready(): Promise<void>;
  /** 20 ms of 16 kHz s16le mono. */
  write(frame: Buffer): void;
  /** Rejects with `audio-device` if the device is lost. Never resolves. */
  readonly lost: Promise<never>;
  /** Estimated time until the last frame is heard. */
  readonly delayMs: number;
  /** How often the device ran out of audio, or was held up while it played. */
  readonly holes: number;
  /** How much audio has waited because of a held-up device since the last call. If it is played, all later audio is late. */
  takeLateMs(): number;
  /** Plays the rest and ends the device. */
  finish(): Promise<void>;
  /** Ends the device at once, without playing the rest. */
  stop(): Promise<void>;
}

export const speakerFrameMs = 20;

import type { FailureDetails } from '../../kernel/errors.ts';
import { deviceError } from '../device-error.ts';
import type { DeviceProcess } from '../process/device-process.ts';

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
  drainLateMs(): number;
  /** Plays the rest and ends the device. */
  finish(): Promise<void>;
  /** Ends the device at once, without playing the rest. */
  stop(): Promise<void>;
}

export const speakerFrameMs = 20;

/** The loss of a device: as a signal for repeated waits, and as a promise for a single one. */
export interface Loss {
  readonly signal: AbortSignal;
  readonly lost: Promise<never>;
  lose(why: string, details?: Record<string, unknown>): void;
}

/** The device is also lost when its process ends. */
export function createLoss(child: DeviceProcess, onLost = () => {}): Loss {
  const controller = new AbortController();
  const { signal } = controller;
  const lost = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Handled even if nobody waits for it.
  lost.catch(() => {});
  const lose = (why: string, details: FailureDetails = {}) => {
    controller.abort(deviceError(why, { details }));
    onLost();
  };
  void child.ended.then((why) => lose(why));
  return { signal, lost, lose };
}

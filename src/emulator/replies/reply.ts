import type { Clock } from '../../kernel/clock.ts';
import type { ReplyState } from '../../protocol/messages.ts';
import type { Playable } from '../../service/streams/playable.ts';

/** What a reply may do on its stream. PCM is 16 kHz s16le mono. */
export interface Voice {
  readonly stream: number;
  readonly device: string;
  readonly clock: Clock;
  /** A shorter sound of the user is not a turn. */
  readonly shortestTurnMs: number;
  /** Whether the reply is speaking. */
  readonly speaking: boolean;
  /** Sends PCM at once. The buffer is not copied: do not change it afterwards. */
  send(pcm: Buffer): void;
  /** Says PCM at real-time pace, after the audio that is still playing. */
  say(playable: Playable): void;
  /** Stops speaking, and drops the rest of the audio. */
  stop(): void;
  /** Reports that the reply failed: as an event, and to the device as an error message. The stream stays open. */
  fail(why: string): void;
  /** Sends a status message. */
  status(state: ReplyState): void;
  /** Sends an error message; the stream stays open. */
  error(code: string, message: string): void;
  /** Sends any JSON. */
  message(body: unknown): void;
  /** Sends text unchanged, even if it is not a valid message. */
  text(text: string): void;
  /**
   * Closes the stream; 1005 closes it without a code, 1006 cuts it without a close frame. Throws `usage` if the code or the
   * reason cannot be sent.
   */
  close(code: number, reason: string): void;
  /** Reports a turn of the user. Times are milliseconds of audio since the stream began. */
  turnStarted(atMs: number): void;
  /** `agoMs`: how long ago, by the clock: a pause must follow before it is known. */
  turnEnded(atMs: number, turnMs: number, agoMs: number): void;
}

/** The emulated AI of one stream. */
export interface Reply {
  /** Takes the user's audio in order: whole samples of 16 kHz s16le mono. */
  hear(pcm: Buffer): void;
  /** Called when all audio that was said has been sent. */
  said?(): void;
  /** Called by a fault: treats the user's turn as ended, even if the user goes on. Returns false if there is none. */
  endTurn?(): boolean;
  /** Called when the control API sends the event of this name. */
  event?(name: string): void;
  /** Called when the stream has ended. */
  close?(): void;
}

/** Makes the reply of a new stream. */
export type CreateReply = (voice: Voice) => Reply;

/** Who speaks on the streams of an emulator. */
export interface ReplyMode {
  (voice: Voice): Reply;
  /** Whether the reply itself confirms a stream of this device. Default: it does not. */
  readonly confirms?: (device: string) => boolean;
}

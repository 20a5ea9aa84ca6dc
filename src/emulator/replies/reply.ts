import type { Clock } from '../../kernel/clock.ts';
import type { ReplyState } from '../../protocol/messages.ts';
import type { Playable } from './playable.ts';

/** What a reply may do on the stream that it answers. */
export interface Voice {
  /** The stream, by its number, and the device that it belongs to. */
  readonly stream: number;
  readonly device: string;
  readonly clock: Clock;
  /** Whether something is being said. */
  readonly speaking: boolean;
  /** Sends PCM at once. It is not copied: who wants to change the buffer afterwards sends a copy. */
  send(pcm: Buffer): void;
  /** Says PCM at real-time pace, after whatever is still being said. */
  say(playable: Playable): void;
  /** Stops saying, and drops what was not said yet. */
  stop(): void;
  /** Reports that the reply cannot go on: as an event, and to the client as an error message. The stream stays. */
  fail(why: string): void;
  /** Sends a status message. */
  status(state: ReplyState): void;
  /** Sends an error message; the stream goes on. */
  error(code: string, message: string): void;
  /** Sends any JSON. */
  message(body: unknown): void;
  /** Sends text as it is, whether or not it is a message. */
  text(text: string): void;
  /** Closes the stream; 1005 closes it without a code, and 1006 cuts it without a close. */
  close(code: number, reason: string): void;
  /** Reports a turn of the user. Times are milliseconds of audio since the stream began. */
  turnStarted(atMs: number): void;
  turnEnded(atMs: number, turnMs: number): void;
}

/** The emulated AI of one stream. */
export interface Reply {
  /** Takes the user's audio, whole samples, in order. */
  hear(pcm: Buffer): void;
  /** All that was to be said has been said. */
  said?(): void;
  /** Something happened outside that was told over the control API, by this name. */
  event?(name: string): void;
  /** The stream has ended. */
  close?(): void;
}

/** Makes the reply of a new stream. */
export type CreateReply = (voice: Voice) => Reply;

/** How the streams of an emulator are answered. */
export interface ReplyMode {
  (voice: Voice): Reply;
  /** Whether the reply itself sends the confirmation of a stream of this device. */
  readonly confirms?: (device: string) => boolean;
}

import { type Pcm, pcmBytes } from '../../audio/whole-pcm.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf, VoicectlError } from '../../kernel/errors.ts';
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
  /** Sends PCM at once. It is not copied: do not change it afterwards. */
  send(pcm: Pcm): void;
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

/** Runs code so that `fail` also takes what it throws later, in a callback of its own. */
type RunForeign = <Result>(fail: (thrown: unknown) => void, call: () => Result) => Result;

/**
 * Guards a reply whose code is the user's. The first error that it throws is reported on its stream, and the stream
 * continues without a reply, which is only closed at its end. Other streams are not affected. `run`: if the process is ours,
 * how to run the code.
 */
export function guardReply(
  createReply: CreateReply,
  voice: Voice,
  run: RunForeign = (_, call) => call(),
): Reply {
  let hasFailed = false;
  const exposed: Reply = {
    hear: (pcm) => attempt(() => reply?.hear(pcm)),
    endTurn: () => attempt(() => reply?.endTurn?.()) === true,
    // Also after a failure: what the reply has opened is still open.
    close: () => guard(() => reply?.close?.()),
  };
  const fail = (thrown: unknown) => {
    if (!hasFailed) voice.fail(messageOf(thrown));
    hasFailed = true;
    // It neither reports an end nor waits for an event any more.
    delete exposed.said;
    delete exposed.event;
  };
  const guard = <Result>(call: () => Result): Result | undefined => {
    try {
      const result = run(fail, call);
      // An asynchronous function fails later.
      if (result instanceof Promise) result.catch(fail);
      return result;
    } catch (thrown) {
      fail(thrown);
      return undefined;
    }
  };
  const attempt = <Result>(call: () => Result) => (hasFailed ? undefined : guard(call));
  const guarded: Voice = Object.create(voice, {
    send: { value: (pcm: Pcm) => voice.send(pcmBytes(pcm)) },
    say: {
      value(said: Playable) {
        if (typeof said?.read !== 'function') throw notPlayable();
        const read = (bytes: number) => {
          const pcm = said.read(bytes);
          return pcm && pcmBytes(pcm);
        };
        voice.say({ read: (bytes) => attempt(() => read(bytes)) });
      },
    },
  });
  const reply = attempt(() => createReply(guarded));
  attempt(() => {
    if (reply?.said !== undefined) exposed.said = () => attempt(() => reply.said?.());
    if (reply?.event !== undefined) exposed.event = (name) => attempt(() => reply.event?.(name));
  });
  return exposed;
}

function notPlayable(): VoicectlError {
  return new VoicectlError('usage', 'A reply must have a read method, like the result of playPcm');
}

import { bytesForMs } from '../protocol/audio-format.ts';
import type { Side, StreamEnd, StreamExchange, Upgrade, WireMessage } from '../wire/exchange.ts';

/** Audio that is kept of each side, from its beginning: the rules of the stream need no more. */
const keptAudioBytes = { device: bytesForMs(200), service: bytesForMs(3_000) };
/** Other messages that are kept: the first ones. */
const maxMessages = 200;

/** A stream as one side of the proxy sees it, bounded: what the rules judge. */
export interface Evidence {
  /** Keeps a message, unless there are enough of its kind. Audio is copied. */
  note(message: WireMessage): void;
  /** Whether audio of this side would still be kept. */
  wantsAudio(from: Side): boolean;
  close(end: StreamEnd): void;
  /** Drops a token that never arrived. */
  forgetToken(): void;
  /** Drops the audio: an ended stream is kept for the rules about several streams. */
  dropAudio(): void;
  /** A copy that goes its own way from now on. */
  fork(): Evidence;
  exchange(): StreamExchange;
}

export function createEvidence(upgrade: Upgrade): Evidence {
  return continueEvidence({
    upgrade,
    messages: [],
    end: undefined,
    others: 0,
    newest: {},
    audio: { device: 0, service: 0 },
  });
}

interface Kept {
  upgrade: Upgrade;
  messages: WireMessage[];
  end: StreamEnd | undefined;
  others: number;
  /** The newest ping or pong of each side, once there are enough messages. */
  newest: Partial<Record<Side, WireMessage>>;
  /** Bytes of each side. */
  audio: Record<Side, number>;
}

function continueEvidence(kept: Kept): Evidence {
  const wantsAudio = (from: Side) => kept.audio[from] < keptAudioBytes[from];
  return {
    wantsAudio,
    note(message) {
      if ('data' in message) {
        if (!wantsAudio(message.from)) return;
        kept.audio[message.from] += message.bytes;
        // ws gives a view of the buffer that the socket delivered, which would be kept as a whole.
        kept.messages.push({ ...message, data: Buffer.from(message.data) });
        return;
      }
      kept.others += 1;
      if (kept.others <= maxMessages) kept.messages.push(message);
      else if (message.opcode === 'ping' || message.opcode === 'pong') kept.newest[message.from] = message;
    },
    close(end) {
      kept.end = end;
    },
    forgetToken() {
      kept.messages = kept.messages.filter((message) => !('token' in message));
    },
    dropAudio() {
      kept.messages = kept.messages.filter((message) => !('data' in message));
    },
    fork: () =>
      continueEvidence({
        ...kept,
        messages: [...kept.messages],
        newest: { ...kept.newest },
        audio: { ...kept.audio },
      }),
    exchange() {
      const { upgrade, end, newest } = kept;
      const { device = [], service = [] } = newest;
      return { kind: 'stream', upgrade, messages: kept.messages.concat(device, service), end };
    },
  };
}

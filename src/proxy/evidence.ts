import { beginningOf } from '../kernel/short-text.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { Side, StreamEnd, StreamExchange, Upgrade, WireMessage } from '../wire/exchange.ts';

/** What a message that is kept costs beside its content: an empty one is not free. */
const messageCostBytes = 200;
/** Audio that is kept of each side, from its beginning: the rules of the stream need no more. */
const keptAudioBytes = { device: bytesForMs(200), service: bytesForMs(3_000) };
const keptAudioMessages = 500;
/** Other messages that are kept: the first ones. */
const keptMessages = 200;
const keptMessageBytes = 256 * 1024;
/** Longest text that is kept as it came. */
const keptTextBytes = 16 * 1024;
/** Of a longer one: this much of each field. */
const keptFieldBytes = 512;
const keptFields = 50;
/** Over all open streams. Beyond it nothing more is kept of any. */
const keptInAllBytes = 24 * 1024 * 1024;

/** The bytes that the evidence of all open streams takes. */
export interface EvidenceBudget {
  usedBytes: number;
}

/** A stream as one side of the proxy sees it, bounded: what the rules judge. */
export interface Evidence {
  /** Keeps a message, or as much of it as there is room for. Audio is copied. False if it is not kept as it came. */
  add(message: WireMessage): boolean;
  /** Whether audio of this side would still be kept. */
  wantsAudio(from: Side): boolean;
  close(end: StreamEnd): void;
  /** Drops a token that never arrived. */
  forgetToken(): void;
  /** A copy that goes its own way from now on. */
  fork(): Evidence;
  exchange(): StreamExchange;
  /** Gives its bytes back to the budget: the stream has ended. */
  release(): void;
}

export function createEvidence(upgrade: Upgrade, budget: EvidenceBudget): Evidence {
  const of = () => ({ messages: 0, bytes: 0 });
  const audio = { device: of(), service: of() };
  return continueEvidence({ upgrade, messages: [], end: undefined, others: of(), newest: {}, audio }, budget);
}

interface Amount {
  messages: number;
  bytes: number;
}

interface Kept {
  upgrade: Upgrade;
  messages: WireMessage[];
  end: StreamEnd | undefined;
  others: Amount;
  /** The newest ping or pong of each side, once there are enough messages. */
  newest: Partial<Record<Side, WireMessage>>;
  audio: Record<Side, Amount>;
}

function continueEvidence(kept: Kept, budget: EvidenceBudget): Evidence {
  let claimedBytes = 0;
  const claim = (bytes: number): boolean => {
    const cost = bytes + messageCostBytes;
    if (budget.usedBytes + cost > keptInAllBytes) return false;
    budget.usedBytes += cost;
    claimedBytes += cost;
    return true;
  };
  const wantsAudio = (from: Side) => {
    const { messages, bytes } = kept.audio[from];
    return bytes < keptAudioBytes[from] && messages < keptAudioMessages;
  };
  const addAudio = (message: Extract<WireMessage, { data: Buffer }>): boolean => {
    const { from, bytes } = message;
    const room = keptAudioBytes[from];
    if (!wantsAudio(from) || !claim(Math.min(bytes, room))) return false;
    kept.audio[from].messages += 1;
    kept.audio[from].bytes += bytes;
    // ws gives a view of the buffer that the socket delivered, which would be kept as a whole.
    kept.messages.push({ ...message, data: Buffer.from(message.data.subarray(0, room)) });
    return true;
  };
  const addOther = (whole: WireMessage): boolean => {
    const isLong = 'text' in whole && whole.text.length > keptTextBytes;
    const message = isLong ? { ...whole, text: shortenText(whole.text) } : whole;
    const bytes = 'text' in message ? message.text.length : 0;
    const { others } = kept;
    const hasRoom = others.messages < keptMessages && others.bytes + bytes <= keptMessageBytes;
    if (!hasRoom || !claim(bytes)) {
      const isControl = message.opcode === 'ping' || message.opcode === 'pong';
      if (isControl) kept.newest[message.from] = message;
      return isControl;
    }
    others.messages += 1;
    others.bytes += bytes;
    kept.messages.push(message);
    return !isLong;
  };
  return {
    wantsAudio,
    add: (message) => ('data' in message ? addAudio(message) : addOther(message)),
    close(end) {
      kept.end = end;
    },
    forgetToken() {
      kept.messages = kept.messages.filter((message) => !('token' in message));
    },
    fork() {
      const audio = { device: { ...kept.audio.device }, service: { ...kept.audio.service } };
      const own = {
        messages: [...kept.messages],
        newest: { ...kept.newest },
        others: { ...kept.others },
        audio,
      };
      return continueEvidence({ ...kept, ...own }, budget);
    },
    exchange() {
      const { upgrade, end, newest } = kept;
      const { device = [], service = [] } = newest;
      return { kind: 'stream', upgrade, messages: kept.messages.concat(device, service), end };
    },
    release() {
      budget.usedBytes -= claimedBytes;
      claimedBytes = 0;
    },
  };
}

/** A text, or as much of a longer one as can be kept: what was JSON stays JSON, what was none stays none. */
export function shortenText(text: string, mostBytes = keptTextBytes): string {
  if (text.length <= mostBytes) return text;
  const value = parseJson(text);
  // With an ellipsis at its end no text is JSON.
  if (value === undefined) return cutField(text);
  return JSON.stringify(isRecord(value) ? shortenFields(value) : shortenField(value));
}

function shortenFields(fields: Record<string, unknown>): Record<string, unknown> {
  const first = Object.entries(fields).slice(0, keptFields);
  return Object.fromEntries(first.map(([name, value]) => [cutField(name), shortenField(value)]));
}

function shortenField(value: unknown): unknown {
  if (typeof value === 'string') return cutField(value);
  if (typeof value !== 'object' || value === null) return value;
  if (JSON.stringify(value).length <= keptFieldBytes) return value;
  return Array.isArray(value) ? ['…'] : { '…': '…' };
}

function cutField(text: string): string {
  return text.length <= keptFieldBytes ? text : `${beginningOf(text, keptFieldBytes)}…`;
}

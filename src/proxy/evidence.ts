import { beginningOf } from '../kernel/short-text.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import type { Side, StreamEnd, StreamExchange, Upgrade, WireMessage } from '../wire/exchange.ts';

/** What a kept message costs in addition to its content: an empty one is not free. */
const messageCostBytes = 200;
/** How much audio of each side is kept, from its beginning: the rules about streams need no more. */
const keptAudioBytes = { device: bytesForMs(200), service: bytesForMs(3_000) };
const keptAudioMessages = 500;
/** How many other messages are kept: the first ones. */
const keptMessages = 200;
const keptMessageBytes = 256 * 1024;
/** Longest text that is kept unchanged. */
const keptTextBytes = 16 * 1024;
/** How much of each field is kept of a longer text. */
const keptFieldBytes = 512;
const keptFields = 50;
/** The limit over all open streams. Beyond it nothing more is kept. */
const keptInAllBytes = 24 * 1024 * 1024;

/** How many bytes the evidence of all open streams takes. */
export interface EvidenceBudget {
  usedBytes: number;
}

/** A stream as one side of the proxy sees it, bounded: what the rules judge. */
export interface Evidence {
  /** Keeps a message, or as much of it as there is room for. Copies audio. False if it was shortened or left out. */
  add(message: WireMessage): boolean;
  /** Whether audio of this side would still be kept. */
  wantsAudio(from: Side): boolean;
  close(end: StreamEnd): void;
  /** Drops a token that never reached this side. */
  forgetToken(): void;
  /** A copy that is independent from now on. */
  fork(): Evidence;
  exchange(): StreamExchange;
  /** Returns its bytes to the budget: the stream has ended. */
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
    // ws passes a view of the whole buffer from the socket, which would stay in memory.
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

/** The text, shortened if it is too long to keep: JSON stays JSON, and other text does not become JSON. */
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

import { beginningOf } from '../kernel/short-text.ts';
import { bytesForMs } from '../protocol/audio-format.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { readTokenResponse } from '../protocol/token-response.ts';
import { bodyText } from '../wire/body-text.ts';
import { isSuccess } from '../wire/client/http.ts';
import { concealAnswer, concealRequest } from '../wire/conceal.ts';
import type {
  Breakdown,
  Side,
  StreamEnd,
  StreamExchange,
  TokenExchange,
  Upgrade,
  WireMessage,
} from '../wire/exchange.ts';
import { tokenFacts } from '../wire/token-facts.ts';
import type { Secrets } from './secrets.ts';
import type { DeviceRequest, TargetAnswer } from './token-leg.ts';

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
/** Of that, how much audio leaves to other messages, which most rules need. */
const leftByAudioBytes = 8 * 1024 * 1024;
/** How much is kept of the first audio of a side, once there is no room for more: some rules ask only whether there was any. */
const firstAudioBytes = bytesForMs(20);

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
  /** Whether something that rules need is missing, because all streams together left no room for it. */
  readonly isPartial: boolean;
  /** Returns its bytes to the budget: the stream has ended. */
  release(): void;
}

export function createEvidence(upgrade: Upgrade, budget: EvidenceBudget): Evidence {
  const of = () => ({ messages: 0, bytes: 0 });
  const audio = { device: of(), service: of() };
  return continueEvidence(
    { upgrade, messages: [], end: undefined, others: of(), newest: {}, audio, isPartial: false },
    budget,
  );
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
  isPartial: boolean;
}

function continueEvidence(kept: Kept, budget: EvidenceBudget): Evidence {
  let claimedBytes = 0;
  const claim = (bytes: number, limitBytes = keptInAllBytes): boolean => {
    const cost = bytes + messageCostBytes;
    if (budget.usedBytes + cost > limitBytes) return false;
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
    if (!wantsAudio(from)) return false;
    let room = Math.min(bytes, keptAudioBytes[from]);
    if (!claim(room, keptInAllBytes - leftByAudioBytes)) {
      if (kept.audio[from].messages > 0) return false;
      room = Math.min(bytes, firstAudioBytes);
      kept.isPartial ||= !claim(room);
      if (kept.isPartial) return false;
    }
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
      else if (hasRoom) kept.isPartial = true;
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
    get isPartial() {
      return kept.isPartial;
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

/** How much of a body is kept, after its secrets are removed. */
const keptBytes = 64 * 1024;

/** When a request began, and the known secrets. */
export interface Moment {
  secrets: Secrets;
  startedAt: number;
  wallAt: number;
}

/** The exchange as evidence, without key and token. */
export function tokenEvidence(
  sent: DeviceRequest,
  answer: TargetAnswer,
  { secrets, startedAt, wallAt }: Moment,
): TokenExchange {
  const redactor = secrets.redactor();
  const request = concealRequest({ ...sent, body: bodyText(sent) }, redactor);
  const text = bodyText(answer);
  const token = isSuccess(answer.status) ? readTokenResponse(parseJson(text)) : undefined;
  if (token !== undefined) redactor.conceal(token);
  const { status, headers, firstByteMs, totalMs, failure } = answer;
  const breakdown: Breakdown | undefined = failure && { code: failure.code, message: failure.message };
  const concealed = concealAnswer({ status, headers, body: text, firstByteMs }, redactor);
  return {
    kind: 'token',
    ...{ at: startedAt, wallAt, totalMs, breakdown },
    request: { ...request, body: shortenText(request.body, keptBytes) },
    answer: { ...concealed, body: shortenText(concealed.body, keptBytes) },
    granted: token === undefined ? undefined : tokenFacts(token, redactor),
  };
}

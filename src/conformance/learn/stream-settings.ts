import { cutText } from '../../kernel/escape.ts';
import { bytesPerSample, msForBytes } from '../../protocol/audio-format.ts';
import { closeCodes } from '../../protocol/close-codes.ts';
import { replyFrameMsBounds } from '../../protocol/dialect/stream.ts';
import { connectionsPerDevice } from '../../protocol/rate-limit.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { audioOf, type SeenStream } from '../../rules/stream-seen.ts';
import { streamTooMany } from '../steps/connection-steps.ts';
import {
  type Learned,
  learned,
  mostCommon,
  notProbed,
  type Range,
  type Setting,
  unlearned,
} from './setting.ts';
import {
  confirmedAt,
  confirmedStreams,
  type LearnView,
  presentedAt,
  type ServiceClose,
  serviceClose,
  textsOf,
  wasKeptOpen,
} from './view.ts';

export const learnedStreamSettings: readonly Setting[] = [
  {
    path: 'stream.binaryToken',
    steps: ['S8', 'S4', 'S6'],
    how: 'a token is presented in a binary message',
    infer: inferBinaryToken,
  },
  {
    path: 'stream.connectionLimit',
    steps: ['C'],
    how: `what happens to the ${connectionsPerDevice + 1}th stream`,
    infer: inferConnectionLimit,
  },
  notProbed('stream.capacity.connections', 'the total limit of all devices is not tested'),
  notProbed('stream.capacity.refuseAt', 'the total limit of all devices is not tested'),
  notProbed('stream.idleTimeoutMs', 'a stream is watched for 75 s at most'),
  notProbed('stream.longestSessionMs', 'a stream is watched for 75 s at most'),
  {
    path: 'stream.explainRefusals',
    steps: ['S4', 'S5'],
    how: 'whether two invalid tokens get different explanations',
    infer(view) {
      const [text, altered] = ['S4', 'S5'].map((id) => serviceClose(view.stream(id))?.error?.error);
      if (text === undefined || altered === undefined) return undefined;
      if (text.code !== altered.code) return unlearned('the two have different codes');
      return learned(
        text.message !== altered.message,
        `${JSON.stringify(text.message)}, ${JSON.stringify(altered.message)}`,
      );
    },
  },
  {
    path: 'stream.tokenDeadlineMs',
    steps: ['S6', 'S6-end'],
    how: 'how long a connection without any message stays open',
    infer(view) {
      const stream = view.stream('S6');
      const end = serviceClose(stream);
      if (stream === undefined || confirmedAt(stream) !== undefined) return undefined;
      if (end === undefined && !wasKeptOpen(stream)) return brokeOff(stream);
      if (end === undefined)
        return unlearned(`more than ${Math.floor(watchedMs(stream) / 1000)} s: --wait waits longer`);
      // From the request on: the service may have begun to wait before its answer was here.
      const lasted = end.at - stream.exchange.upgrade.at;
      const evidence = `S6 was closed after ${secondsText(lasted)}`;
      // A dialect that was learned from a late close says more than the deadline.
      return learned(roundDown(lasted), evidence, [lasted - deadlineSlackMs, lasted + deadlineSlackMs]);
    },
  },
  {
    path: 'stream.earlyAudioBytes',
    steps: ['S7'],
    how: '640 bytes of audio before the token: this gives a lower or an upper bound',
    infer(view) {
      const stream = view.stream('S7');
      if (stream === undefined) return undefined;
      if (confirmedAt(stream) !== undefined)
        return unlearned('at least 640 bytes; larger amounts are not tested');
      const end = earlyAudioEnd(view);
      if (end === undefined) return unlearned('S7 was not confirmed, and nothing says why');
      return learned(0, `640 bytes were too much: closed with ${end.close}`);
    },
  },
  {
    path: 'stream.maxMessageBytes',
    steps: ['M1', 'M2', 'M3'],
    how: 'text of 64 KiB, of 1 MiB plus one byte and of 16 MiB instead of a token: this gives a lower and an upper bound',
    infer: inferLargestMessage,
  },
  {
    path: 'stream.replyFrameMs',
    steps: ['S1'],
    how: 'the most common length of the binary messages of the reply',
    infer(view) {
      const stream = view.stream('S1');
      const lengths = stream === undefined ? [] : audioOf(stream, 'service').map(({ bytes }) => bytes);
      const usual = mostCommon(lengths.filter((bytes) => bytes % bytesPerSample === 0));
      if (usual === undefined) return undefined;
      const count = lengths.filter((bytes) => bytes === usual).length;
      // The last message of a reply may be a short one.
      if (2 * count < lengths.length)
        return unlearned(
          `messages have different lengths: ${count} of ${lengths.length} have ${usual} bytes`,
        );
      const ms = msForBytes(usual);
      if (!Number.isInteger(ms) || ms < replyFrameMsBounds.min || ms > replyFrameMsBounds.max)
        return unlearned(`messages of ${usual} bytes are not a whole number of milliseconds`);
      // A reply of one message may have ended before the message was full.
      const range: Range | undefined = lengths.length === 1 ? [ms, replyFrameMsBounds.max] : undefined;
      return learned(ms, `${count} of ${lengths.length} messages have ${usual} bytes`, range);
    },
  },
  notProbed('stream.shortestTurnMs', 'no short sound is sent'),
  {
    path: 'stream.oddBytes',
    steps: ['S3'],
    how: 'a message of 641 bytes: only a close can be seen; carried and dropped look the same',
    infer(view) {
      const stream = view.stream('S3');
      if (stream === undefined || confirmedAt(stream) === undefined) return undefined;
      const end = serviceClose(stream);
      if (end !== undefined && textSentAt(stream) === undefined)
        return learned('close', `a message of 641 bytes closed S3 with ${end.close}`);
      return textSentAt(stream) === undefined && !wasKeptOpen(stream)
        ? brokeOff(stream)
        : unlearned('carried or dropped: S3 continued');
    },
  },
  {
    path: 'stream.textAfterToken',
    steps: ['S3'],
    how: 'text is sent on a confirmed stream',
    infer(view) {
      const stream = view.stream('S3');
      const textAt = stream && textSentAt(stream);
      if (stream === undefined || textAt === undefined) return undefined;
      const end = serviceClose(stream);
      if (end !== undefined) return learned('close', `text closed S3 with ${end.close}`);
      if (!wasKeptOpen(stream)) return brokeOff(stream);
      const error = textsOf(stream).find(({ category, at }) => category === 'error' && at >= textAt);
      return error === undefined
        ? learned('ignore', 'nothing followed')
        : learned('error', `${cutText(error.text, 80)} followed`);
    },
  },
  {
    path: 'stream.expiryDuringStream',
    steps: ['A55', 'A55-end'],
    how: 'a stream is held open after its token expires',
    infer(view) {
      const stream = view.stream('A55');
      if (stream === undefined || confirmedAt(stream) === undefined) return undefined;
      const end = expiryEnd(view);
      if (end !== undefined)
        return learned('close', `A55 was closed with ${end.close} when its token expired`);
      if (serviceClose(stream) !== undefined)
        return unlearned('A55 was closed, perhaps by another timer than that of its token');
      return wasKeptOpen(stream)
        ? learned('continue', 'A55 was still open 15 s after its token expired')
        : brokeOff(stream);
    },
  },
];

/** A stream that did not end in order shows nothing; nor does one that is open when the run stops. */
function brokeOff({ id, exchange }: SeenStream): Learned | undefined {
  return exchange.end && unlearned(`${id} broke off`);
}

/** The age of a token when a service ends its stream because it has expired. Any other time is that of another timer. */
const expiryFromMs = 58_000;
const expiryToMs = 64_000;

/** The close of a stream whose token expired: between its `exp` and a little later. */
export function expiryEnd(view: LearnView): ServiceClose | undefined {
  const stream = view.stream('A55');
  const end = serviceClose(stream);
  const grant = view.grants.find(({ id }) => id === 'T55');
  if (stream === undefined || end === undefined || grant === undefined || confirmedAt(stream) === undefined)
    return undefined;
  const ageMs = end.at - grant.exchange.at;
  if (ageMs <= expiryFromMs || ageMs >= expiryToMs) return undefined;
  return confirmedStreams(view).some((other) => other !== stream && areClosedAlike(stream, other))
    ? undefined
    : end;
}

/** Ends of the same timer differ by at most this. */
const timerSlackMs = 750;

/** Whether two streams got the same close after the same time: then a timer of the stream ends them, and not one of the token. */
function areClosedAlike(one: SeenStream, other: SeenStream): boolean {
  const [first, second] = [one, other].map(serviceClose);
  if (first === undefined || first.close !== second?.close || first.reason !== second.reason) return false;
  const [lasted, otherLasted] = [lastedMs(one, first), lastedMs(other, second)];
  return Math.abs(lasted - otherLasted) < timerSlackMs;
}

function lastedMs({ exchange: { upgrade } }: SeenStream, end: ServiceClose): number {
  return end.at - upgrade.at;
}

/** The close for audio before the token; if it equals the close for an invalid token, the audio was taken for a token. */
export function earlyAudioEnd(view: LearnView): ServiceClose | undefined {
  const stream = view.stream('S7');
  const end = stream && confirmedAt(stream) === undefined ? serviceClose(stream) : undefined;
  const invalid = serviceClose(view.stream('S4'));
  const isAlike = end?.close === invalid?.close && end?.reason === invalid?.reason;
  return isAlike ? undefined : end;
}

/** When text was sent on the stream, except the token. */
export function textSentAt({ exchange }: SeenStream): number | undefined {
  return exchange.messages.find((message) => message.from === 'device' && 'text' in message)?.at;
}

function watchedMs({ exchange: { upgrade, end } }: SeenStream): number {
  return (end?.at ?? upgrade.at) - upgrade.at;
}

/** A close arrives a little after its deadline. */
const deadlineGrainMs = 250;
/** On a busy machine, and one more grain where time is moved. */
const deadlineSlackMs = 750;

function roundDown(ms: number): number {
  return Math.max(1, Math.floor(ms / deadlineGrainMs) * deadlineGrainMs);
}

/** A refusal comes immediately; buffered audio waits until the deadline of the token. */
const atOnceMs = 1_000;

function inferBinaryToken(view: LearnView): Learned | undefined {
  const stream = view.stream('S8');
  if (stream === undefined) return undefined;
  if (confirmedAt(stream) !== undefined) return learned('accept', 'S8 was confirmed');
  const end = serviceClose(stream);
  const presented = presentedAt(stream) ?? stream.exchange.messages.find(({ from }) => from === 'device')?.at;
  if (end === undefined && !wasKeptOpen(stream)) return brokeOff(stream);
  if (end === undefined || presented === undefined)
    return learned('audio', 'S8 was neither confirmed nor refused');
  const [refused, late] = ['S4', 'S6'].map((id) => serviceClose(view.stream(id)));
  const overflow = earlyAudioEnd(view);
  const isLike = (other: ServiceClose | undefined) =>
    other?.close === end.close && other.reason === end.reason;
  if (isLike(overflow) && !isLike(refused))
    return learned('audio', `S8 was closed with ${end.close}, like audio in S7`);
  if (isLike(overflow)) return unlearned('S8 was closed like both audio and an invalid token');
  if (isLike(refused) && !isLike(late)) return learned('refuse', `S8 was closed with ${end.close}, like S4`);
  if (isLike(late) && !isLike(refused)) return learned('audio', `S8 was closed with ${end.close}, like S6`);
  const ms = end.at - presented;
  return learned(ms < atOnceMs ? 'refuse' : 'audio', `S8 was closed ${secondsText(ms, 1)} after its message`);
}

function inferConnectionLimit(view: LearnView): Learned | undefined {
  const refused = refusedUpgrade(view);
  if (refused !== undefined) return learned('refuse-upgrade', `the upgrade of ${refused.id} was refused`);
  const last = view.stream(streamTooMany);
  if (last === undefined) {
    const [other] = refusedUpgrades(view);
    return (
      other &&
      unlearned(`the upgrade of ${other.id} was refused with ${statusOf(other)}: the service may be full`)
    );
  }
  if (confirmedAt(last) === undefined)
    return serviceClose(last) && learned('refuse', `the token of ${streamTooMany} was refused`);
  const evicted = evictedEnd(view);
  return evicted === undefined
    ? unlearned(`${streamTooMany} was confirmed, and no other stream closed`)
    : learned('evict-oldest', `C1 was closed to make room for ${streamTooMany}`);
}

/**
 * The first of many connections of a device whose upgrade was refused: a limit by address counts other streams too. With 5xx,
 * the service may be full or in trouble.
 */
export function refusedUpgrade(view: LearnView): SeenStream | undefined {
  return refusedUpgrades(view).find((stream) => statusOf(stream) < 500);
}

function refusedUpgrades(view: LearnView): SeenStream[] {
  const ids = Array.from({ length: connectionsPerDevice + 1 }, (_, index) => `C${index + 1}`);
  return ids.flatMap((id) => view.refusedUpgrade(id) ?? []);
}

const statusOf = ({ exchange }: SeenStream) => exchange.upgrade.answer?.status ?? 0;

/** The close of the oldest stream of a device that makes room for the newest. */
export function evictedEnd(view: LearnView): ServiceClose | undefined {
  const last = view.stream(streamTooMany);
  const confirmed = last && confirmedAt(last);
  const end = serviceClose(view.stream('C1'));
  if (confirmed === undefined || end === undefined) return undefined;
  return Math.abs(end.at - confirmed) < 3_000 ? end : undefined;
}

const sizes = [
  ['M1', 64 * 1024],
  ['M2', 1024 * 1024 + 1],
  ['M3', 16 * 1024 * 1024],
] as const;

function inferLargestMessage(view: LearnView): Learned | undefined {
  const tried = sizes.flatMap(([id, bytes]) => {
    const stream = view.stream(id);
    return stream === undefined
      ? []
      : [{ bytes, isTooBig: serviceClose(stream)?.close === closeCodes.messageTooBig }];
  });
  if (tried.length === 0) return undefined;
  const smallest = tried.find(({ isTooBig }) => isTooBig)?.bytes;
  const largest = tried.filter(({ isTooBig }) => !isTooBig).at(-1)?.bytes;
  if (smallest === undefined)
    return unlearned(`no message was too big: the largest before the token had ${largest} bytes`);
  return learned(smallest - 1, `${largest ?? 0} to ${smallest - 1} bytes: ${smallest} is too much`, [
    largest ?? 1,
    smallest - 1,
  ]);
}

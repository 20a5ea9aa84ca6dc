import { holdAudio } from '../audio/verdict/audio-as-text.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { connectedKind } from '../protocol/messages.ts';
import { streamPath } from '../protocol/paths.ts';
import type { WireMessage } from '../wire/exchange.ts';
import { judgeAudio } from './reply-audio.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, show, unknown, warn } from './rule.ts';
import {
  audioOf,
  deviceMessages,
  endText,
  freshPresentations,
  isConfirmation,
  isData,
  isOpened,
  isServiceEnd,
  type Presentation,
  readTextMessage,
  type SeenStream,
  serviceMessages,
  soonMs,
  streamsSeen,
  violationBy,
} from './stream-seen.ts';
import { grantsSeen, isPage, isVersioned } from './token-seen.ts';

const section = `WSS ${streamPath}`;

/** A voice stream, from its upgrade to its audio. */
export const streamRules: readonly Rule[] = [
  {
    id: 'R33',
    section,
    title: `a WebSocket opens at ${streamPath}`,
    says: `Address: {ws_url}${streamPath}.`,
    judge: judgeUpgrade,
  },
  {
    id: 'R34',
    section: 'Authentication',
    title: 'the service waits for a JWT that it granted',
    says: 'Every WebSocket connection must be authenticated with a JWT obtained from the token endpoint. It is presented as the first message.',
    judge: judgeAuthentication,
  },
  {
    id: 'R35',
    section,
    title: 'the first message after the JWT confirms it',
    says: `First service message: JSON message of kind ${connectedKind}.`,
    judge: judgeConfirmation,
  },
  {
    id: 'R36',
    section: 'Versioning',
    title: 'a token of the v1 path opens a stream',
    says: 'Both forms of the token path appear; the stream has one path.',
    judge: judgeVersionedToken,
  },
  {
    id: 'R37',
    section,
    title: 'binary audio flows both ways',
    says: 'After confirmation: binary PCM messages in both directions.',
    judge: (seen) => mostSevere(freshPresentations(seen).map(judgeAudioFlow)),
  },
  {
    id: 'R38',
    section: 'Audio format (both directions)',
    title: 'the audio is raw s16le mono 16 kHz',
    says: 'Raw PCM, 16,000 Hz, 16-bit, 1 channel, little-endian, signed integer.',
    judge: (seen) => mostSevere(streamsSeen(seen).map(judgeAudio)),
  },
  {
    id: 'R39',
    section: 'Events',
    title: 'every text message is JSON',
    says: 'Service to client: status and error messages: JSON.',
    judge: judgeTexts,
  },
];

/** A refusal with one of these may be because of headers or a query that the specification does not show. */
const doubtful: readonly number[] = [401, 403, 408, 429, 500, 502, 503, 504];

function judgeUpgrade(seen: readonly Seen[]): Finding | undefined {
  const asked = streamsSeen(seen).filter(
    (one) => one.exchange.upgrade.answer !== undefined && one.provoked !== true && isAtItsPath(one),
  );
  const answered = asked.filter(isOpened);
  const opened = answered.filter(({ exchange }) => exchange.upgrade.breakdown?.code !== 'handshake-failed');
  if (opened.length > 0) return pass('the upgrade is answered with 101', opened);
  const [broken] = answered;
  if (broken !== undefined)
    return fail(`answered with 101, but no WebSocket opens: ${endText(broken)}`, answered);
  const [first] = asked;
  const answer = first?.exchange.upgrade.answer;
  if (first === undefined || answer === undefined) return undefined;
  const message = `the upgrade is answered with ${answer.status}`;
  if (isPage(answer)) return unknown(`${message} with a web page, not by the service`, first);
  if (doubtful.includes(answer.status) || (answer.status >= 300 && answer.status < 400))
    return unknown(`${message}: it may require more than the specification shows`, first);
  return fail(message, asked);
}

/** Another path is the device's mistake. */
function isAtItsPath({ exchange }: SeenStream): boolean {
  return new URL(exchange.upgrade.request.url, 'ws://service').pathname.endsWith(streamPath);
}

function judgeAuthentication(seen: readonly Seen[]): Finding | undefined {
  const fresh = freshPresentations(seen);
  const others = streamsSeen(seen).filter((one) => !fresh.some(({ stream }) => stream === one));
  const granted = new Set(grantsSeen(seen).map(({ exchange }) => exchange.granted.hash));
  const unauthenticated = others.map((one) => judgeUnasked(one) ?? judgeUngranted(one, granted));
  return mostSevere([...fresh.map(judgeSilence), ...unauthenticated]);
}

function judgeSilence({ stream, message }: Presentation): Finding {
  const early = serviceMessages(stream).find(({ at }) => at < message.at);
  if (early === undefined) return pass('it waits for the JWT', stream);
  return fail(`${messageText(early)} arrived before the JWT`, stream);
}

/** Audio or a confirmation on a connection on which nothing was presented before. */
function judgeUnasked(stream: SeenStream): Finding | undefined {
  const { messages } = stream.exchange;
  const presentedAt = messages.findIndex(isPresented);
  const confirmed = messages.slice(0, presentedAt < 0 ? undefined : presentedAt).find(isConfirmation);
  const hasSent = deviceMessages(stream).length > 0;
  const early = confirmed ?? (hasSent ? undefined : audioOf(stream, 'service')[0]);
  return early && fail(`${messageText(early)} arrived, although no JWT was presented`, stream);
}

/** What a device sends to be accepted: a token, or a text in its place. */
function isPresented(message: WireMessage): boolean {
  return message.from === 'device' && ('token' in message || 'text' in message);
}

/** A confirmation of something that the token endpoint did not grant. A JWT that nobody altered may have been granted unseen. */
function judgeUngranted(stream: SeenStream, granted: ReadonlySet<string>): Finding | undefined {
  const { messages, end } = stream.exchange;
  const shown = messages.find(isPresented);
  const confirmed = messages.find(isConfirmation);
  if (shown === undefined || confirmed === undefined) return undefined;
  const isJwt = 'token' in shown && shown.token.claims !== undefined;
  if ('token' in shown && (granted.has(shown.token.hash) || (isJwt && stream.provoked !== true)))
    return undefined;
  const message = `${isJwt ? 'a JWT that was not granted' : 'text that is no JWT'} was confirmed`;
  if (end !== undefined && isServiceEnd(end) && end.at - confirmed.at < soonMs)
    return warn(`${message}, and only then refused: ${endText(stream)}`, stream);
  return fail(message, stream);
}

/** A connection that breaks before anything can be presented. */
function judgeEarlyEnd(stream: SeenStream): Finding | undefined {
  const { upgrade, end } = stream.exchange;
  const isSoon = end !== undefined && isServiceEnd(end) && end.at - upgrade.at < soonMs;
  if (!isSoon || deviceMessages(stream).length > 0) return undefined;
  return fail(`the connection ended before the JWT: ${end.breakdown?.message ?? endText(stream)}`, stream);
}

function messageText(message: WireMessage): string {
  return 'text' in message ? show(message.text) : `a binary message of ${message.bytes} bytes`;
}

function judgeConfirmation(seen: readonly Seen[]): Finding | undefined {
  const fresh = freshPresentations(seen);
  const unversioned = fresh.filter((one) => !isVersioned(one.grant));
  const presented = (unversioned.length > 0 ? unversioned : fresh).map(judgeFirstMessage);
  return mostSevere(presented.length > 0 ? presented : streamsSeen(seen).map(judgeEarlyEnd));
}

function judgeFirstMessage({ stream, message, answers, confirmed }: Presentation): Finding {
  const [first] = answers;
  const until = first?.at ?? stream.exchange.end?.at ?? Number.POSITIVE_INFINITY;
  const { messages } = stream.exchange;
  const isEarly = messages
    .slice(messages.indexOf(message) + 1)
    .some((one) => one.from === 'device' && isData(one) && one.at < until);
  if (isEarly && (first === undefined || first !== confirmed))
    return unknown('the device sent more before it was confirmed', stream);
  if (first === undefined) {
    const { end } = stream.exchange;
    const text = endText(stream);
    return isServiceEnd(end) ? fail(`the JWT was not accepted: ${text}`, stream) : unknown(text, stream);
  }
  if (first === confirmed) return pass(`the first message is ${connectedKind}`, stream);
  return fail(`the first message is ${messageText(first)}`, stream);
}

function judgeVersionedToken(seen: readonly Seen[]): Finding | undefined {
  const fresh = freshPresentations(seen);
  const versioned = fresh.filter(({ grant }) => isVersioned(grant));
  const opened = versioned.filter(({ confirmed }) => confirmed !== undefined);
  if (opened.length > 0)
    return pass(
      'accepted',
      opened.map(({ stream }) => stream),
    );
  const [refused] = versioned;
  if (refused === undefined) return undefined;
  const other = fresh.find((one) => !isVersioned(one.grant) && one.confirmed !== undefined);
  const [first] = refused.answers;
  const text = first === undefined ? endText(refused.stream) : `the first message is ${messageText(first)}`;
  if (other === undefined) return unknown(`no token is accepted: ${text}`, refused.stream);
  const isRefused = first !== undefined || isServiceEnd(refused.stream.exchange.end);
  return isRefused
    ? fail(`not accepted: ${text}`, [refused.stream, other.stream])
    : unknown(text, refused.stream);
}

const closesOnAudio: readonly number[] = [
  closeCodes.protocolError,
  closeCodes.unsupportedData,
  closeCodes.invalidData,
  closeCodes.policyViolation,
];

function judgeAudioFlow({ stream, message, confirmed }: Presentation): Finding | undefined {
  const { end } = stream.exchange;
  const sent = audioOf(stream, 'device');
  const heard = audioOf(stream, 'service').filter(({ at }) => at >= message.at);
  if (confirmed === undefined) return undefined;
  const violation = violationBy('service', end);
  if (violation !== undefined) return fail(`the service ${violation}`, stream);
  if (heard.some(({ at }) => at < confirmed.at)) return fail('audio arrived before the confirmation', stream);
  // Half a sample, or text, is another question.
  const isPlain = sent.length > 0 && sent.every(({ bytes }) => bytes % 2 === 0);
  const hasText = stream.exchange.messages.some((one) => one.from === 'device' && 'text' in one);
  if (!isPlain || hasText) return undefined;
  if (heard.length > 0) return pass('audio is sent and received', stream);
  const speaksFrom = Math.max(confirmed.at, sent[0]?.at ?? 0);
  // What comes before it is no reply.
  const answers = serviceMessages(stream).filter(({ at }) => at >= speaksFrom);
  if (holdAudio(answers.flatMap((one) => ('text' in one ? [one.text] : []))))
    return fail('the audio arrives as text', stream);
  const isSoon = end !== undefined && end.at - speaksFrom < soonMs;
  if (end?.by === 'service' && isSoon && closesOnAudio.includes(end.code))
    return fail(`audio is not accepted: ${endText(stream)}`, stream);
  const why = isServiceEnd(end) ? `: ${endText(stream)}` : '; the specification promises none';
  return unknown(`no audio was received${why}`, stream);
}

function judgeTexts(seen: readonly Seen[]): Finding | undefined {
  const withText = streamsSeen(seen).filter((one) =>
    serviceMessages(one).some((message) => 'text' in message),
  );
  const wrong = withText.flatMap((one: SeenStream) => {
    const message = serviceMessages(one).find((text) => readTextMessage(text)?.category === 'malformed');
    return message === undefined ? [] : [{ one, message }];
  });
  const [first] = wrong;
  if (first !== undefined)
    return fail(
      `a text message is not JSON: ${messageText(first.message)}`,
      wrong.map(({ one }) => one),
    );
  return withText.length > 0 ? pass('each text message is JSON', withText) : undefined;
}

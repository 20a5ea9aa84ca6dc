import { closeCodes } from '../protocol/close-codes.ts';
import { connectionsPerDevice } from '../protocol/rate-limit.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, unknown } from './rule.ts';
import {
  endedAt,
  endText,
  freshMs,
  isDecided,
  isOpened,
  isServiceEnd,
  type Presentation,
  presentations,
  type SeenStream,
  streamsSeen,
  subjectOf,
} from './stream-seen.ts';

const section = 'Limits';

/** How many streams a device may have at the same time. */
export const concurrencyRules: readonly Rule[] = [
  {
    id: 'R42',
    section,
    title: `${connectionsPerDevice} connections at the same time`,
    says: 'Concurrent connections: 10 per device.',
    judge: judgeAllowed,
  },
  {
    id: 'R43',
    section,
    title: 'the 11th connection is refused',
    says: 'Concurrent connections: 10 per device.',
    judge: judgeExcess,
  },
  {
    id: 'R44',
    section,
    title: 'a closed stream frees its slot; other devices are unaffected',
    says: 'Concurrent connections: 10 per device.',
    judge: judgeSlots,
  },
];

/** With fewer open, a refusal has another reason. */
const fewest = 2;
/** How soon after a new stream is accepted an older one is closed to make room for it. */
const evictionMs = 3_000;

/** Attempts to open one more stream; one that may have been refused because of the age of its token does not count. */
function attempts(seen: readonly Seen[]): Presentation[] {
  return presentations(seen).filter(isAttempt);
}

function isAttempt(one: Presentation): boolean {
  return one.confirmed !== undefined || (one.ageMs < freshMs && isDecided(one));
}

/** Whether a device has all of its connections with this one. */
function isLastAllowed({ openBefore, confirmed }: Presentation): boolean {
  return openBefore.length === connectionsPerDevice - 1 && confirmed !== undefined;
}

/** Older streams of the device that the service closed to make room for this one; if several new streams qualify, the newest is taken as the cause. */
function evictedBy(one: Presentation, all: readonly Presentation[]): SeenStream[] {
  const { confirmed, openBefore, message } = one;
  if (confirmed === undefined) return [];
  const newer = all.find((other) => {
    return other.message.at > message.at && subjectOf(other.grant) === subjectOf(one.grant);
  });
  const until = Math.min(confirmed.at + evictionMs, newer?.message.at ?? Number.POSITIVE_INFINITY);
  return openBefore.filter(({ exchange: { end } }) => {
    return end !== undefined && isServiceEnd(end) && end.at <= until;
  });
}

function judgeAllowed(seen: readonly Seen[]): Finding | undefined {
  const all = attempts(seen).filter(({ openBefore }) => openBefore.length >= fewest);
  const below = all.filter(({ openBefore }) => openBefore.length < connectionsPerDevice);
  const refused = below.find(({ confirmed, stream }) => confirmed === undefined && stream.provoked !== true);
  if (refused !== undefined && !wasFull(refused, seen)) {
    const { stream, openBefore } = refused;
    return fail(`with ${openBefore.length} open, one more was refused: ${endText(stream)}`, stream);
  }
  const evicting = below.find((one) =>
    // A stream that ended normally made room for nobody.
    evictedBy(one, all).some(({ exchange: { end } }) => end?.code !== closeCodes.normal),
  );
  if (evicting !== undefined) {
    const { stream, openBefore } = evicting;
    return fail(`with ${openBefore.length} open, one more closed an older one`, stream);
  }
  const full = below.find(isLastAllowed);
  return full && pass(`${connectionsPerDevice} streams are open`, [...full.openBefore, full.stream]);
}

/** Whether the limit had been reached before: then a slot that was not freed concerns another rule. */
function wasFull(one: Presentation, seen: readonly Seen[]): boolean {
  return attempts(seen).some(
    (other) =>
      other.message.at < one.message.at &&
      subjectOf(other.grant) === subjectOf(one.grant) &&
      other.openBefore.length >= connectionsPerDevice - 1,
  );
}

/** Streams whose upgrade was refused while a device had all of its connections. */
function refusedUpgrades(seen: readonly Seen[], full: Presentation): SeenStream[] {
  return streamsSeen(seen).filter((one) => {
    const { at, answer } = one.exchange.upgrade;
    return answer !== undefined && !isOpened(one) && one.provoked === true && at >= full.message.at;
  });
}

function judgeExcess(seen: readonly Seen[]): Finding | undefined {
  const all = attempts(seen);
  const full = all.find(isLastAllowed);
  if (full === undefined) return undefined;
  const [atUpgrade] = refusedUpgrades(seen, full);
  if (atUpgrade !== undefined) return pass(`refused: ${endText(atUpgrade)}`, atUpgrade);
  const excess = all.find(({ openBefore }) => openBefore.length >= connectionsPerDevice);
  if (excess === undefined) return undefined;
  const { confirmed, stream, openBefore } = excess;
  if (confirmed === undefined) return pass(`refused: ${endText(stream)}`, stream);
  const evicted = evictedBy(excess, all);
  if (evicted.length > 0) {
    const names = evicted.map(({ id }) => id).join(', ');
    const were = evicted.length > 1 ? 'were' : 'was';
    return pass(`accepted; ${names} ${were} closed to make room`, [stream, ...evicted]);
  }
  const { end } = stream.exchange;
  const isSoon = end !== undefined && isServiceEnd(end) && end.at <= confirmed.at + evictionMs;
  if (isSoon && end.code !== closeCodes.normal)
    return pass(`refused after its confirmation: ${endText(stream)}`, stream);
  const left = openBefore.filter((one) => endedAt(one) > confirmed.at);
  if (left.length < connectionsPerDevice) return pass('it waited until another stream had ended', stream);
  return fail(`with ${left.length} open, one more was accepted`, stream);
}

/** If one half of the rule was requested but not judged, it is not a pass. */
function judgeSlots(seen: readonly Seen[]): Finding | undefined {
  const halves = [judgeSlot(seen), judgeOtherDevices(seen)];
  const worst = mostSevere(halves);
  return worst?.verdict === 'pass' ? (halves.find((half) => half?.verdict === 'unknown') ?? worst) : worst;
}

/** After one of a full device's streams was closed, the next is accepted. */
function judgeSlot(seen: readonly Seen[]): Finding | undefined {
  const after = presentations(seen).filter(
    (one) =>
      one.openBefore.length >= fewest && one.openBefore.length < connectionsPerDevice && wasFull(one, seen),
  );
  const [first] = after.filter(isAttempt);
  if (first === undefined)
    return (
      judgeEmptied(seen) ??
      (after[0] && unknown('refused after one was closed, with a token that may be too old', after[0].stream))
    );
  if (first.confirmed !== undefined) return pass('the slot of a closed stream is free again', first.stream);
  return fail(
    `with ${first.openBefore.length} left open, one more was refused: ${endText(first.stream)}`,
    first.stream,
  );
}

/** A stream too many made the service close nearly all others: the device is no longer full, and the next stream shows nothing. */
function judgeEmptied(seen: readonly Seen[]): Finding | undefined {
  const all = attempts(seen);
  for (const excess of all.filter(({ openBefore }) => openBefore.length >= connectionsPerDevice)) {
    const evicted = evictedBy(excess, all);
    const isFollowed = all.some(
      (one) => one.message.at > excess.message.at && subjectOf(one.grant) === subjectOf(excess.grant),
    );
    if (isFollowed && evicted.length > connectionsPerDevice - fewest)
      return unknown(
        `one more stream closed ${evicted.length} older ones: no device stays full, so a freed slot cannot be shown`,
        [excess.stream, ...evicted],
      );
  }
  return undefined;
}

/** While one device is full, another opens a stream. */
function judgeOtherDevices(seen: readonly Seen[]): Finding | undefined {
  const all = attempts(seen);
  const other = all.find(({ openElsewhere }) => openElsewhere >= connectionsPerDevice);
  if (other === undefined) return judgeByAddress(seen, all);
  if (other.confirmed !== undefined) return pass('another device has its own limit', other.stream);
  return fail(`another device was refused: ${endText(other.stream)}`, other.stream);
}

/** Of two upgrades that were refused while a device was full, the second is that of another device. */
function judgeByAddress(seen: readonly Seen[], all: readonly Presentation[]): Finding | undefined {
  const full = all.find(isLastAllowed);
  const [, other] = full === undefined ? [] : refusedUpgrades(seen, full);
  return (
    other && unknown(`connections are counted before a token names the device: ${endText(other)}`, other)
  );
}

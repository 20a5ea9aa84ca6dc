import { tokenLifetimeSeconds } from '../protocol/claims.ts';
import { secondsText } from '../protocol/time-text.ts';
import { type Finding, fail, observed, pass, type Rule, type Seen, unknown } from './rule.ts';
import {
  endText,
  freshPresentations,
  isServiceEnd,
  type Presentation,
  presentations,
  type SecondUse,
  secondUses,
} from './stream-seen.ts';

const lifetimeMs = tokenLifetimeSeconds * 1000;

/** How long a token can open a stream, and how many streams. */
export const expiryRules: readonly Rule[] = [
  {
    id: 'R40',
    section: 'States and transitions',
    title: 'a token is valid until exp',
    says: 'A token is valid from issue until exp (60 seconds).',
    judge: judgeValidity,
  },
  {
    id: 'R41',
    section: 'Authentication',
    title: 'a token is not valid after exp',
    says: 'The JWT lives 60 seconds exactly and cannot be renewed.',
    judge: judgeExpiry,
  },
];

/** A token that is presented again. The specification does not show what the service does then: it is observed, not judged. Specification: "Authentication". */
export const reuseRule: Rule = {
  id: 'R45',
  section: 'Authentication',
  title: 'a token is for a single connection',
  says: 'It is meant for a single connection. Service behaviour when a token is reused: not shown.',
  judge: judgeReuse,
};

/** Claims are whole seconds: a token may live almost a second less. */
const roundingMs = 1_500;
const earliestMs = lifetimeMs / 2;

function isAnyAccepted(seen: readonly Seen[]): boolean {
  return freshPresentations(seen).some(({ confirmed }) => confirmed !== undefined);
}

/** Tokens presented at this age; one whose connection did not open shows nothing. */
function shownBetween(seen: readonly Seen[], fromMs: number, toMs: number): Presentation[] {
  return presentations(seen).filter(({ ageMs }) => ageMs >= fromMs && ageMs < toMs);
}

function judgeValidity(seen: readonly Seen[]): Finding | undefined {
  const late = shownBetween(seen, earliestMs, lifetimeMs - roundingMs);
  const [first] = late;
  if (first === undefined) return undefined;
  const refused = late.find(({ confirmed }) => confirmed === undefined);
  if (refused === undefined) return pass(`accepted after ${secondsText(first.ageMs, 1)}`, first.stream);
  const text = `after ${secondsText(refused.ageMs, 1)}: ${endText(refused.stream)}`;
  if (!isAnyAccepted(seen)) return unknown(`no token is accepted, fresh or not; ${text}`, refused.stream);
  return isServiceEnd(refused.stream.exchange.end)
    ? fail(`not accepted ${text}`, refused.stream)
    : unknown(text, refused.stream);
}

/** A service that accepts a token this long after its `exp` does not check it. */
const longestLeewayMs = 2 * lifetimeMs - roundingMs;

function judgeExpiry(seen: readonly Seen[]): Finding | undefined {
  const expired = shownBetween(seen, lifetimeMs + roundingMs, Number.POSITIVE_INFINITY);
  const accepted = expired.filter(({ confirmed }) => confirmed !== undefined);
  const refused = expired.find(({ confirmed }) => confirmed === undefined);
  const last = accepted.at(-1);
  if (expired.length === 0) return undefined;
  const evidence = expired.map(({ stream }) => stream);
  if (last === undefined) {
    const text = refused === undefined ? '' : `refused after ${secondsText(refused.ageMs, 1)}`;
    return isAnyAccepted(seen)
      ? pass(text, evidence)
      : unknown('no token is accepted, fresh or not', evidence);
  }
  if (last.ageMs >= longestLeewayMs)
    return fail(`still accepted after ${secondsText(last.ageMs, 1)}`, evidence);
  const until = refused === undefined ? '' : `, refused after ${secondsText(refused.ageMs, 1)}`;
  return observed(`a leeway: accepted after ${secondsText(last.ageMs, 1)}${until}`, evidence);
}

const moments = {
  ended: 'after the first stream has ended',
  open: 'while the first stream is open',
} as const;

function judgeReuse(seen: readonly Seen[]): Finding | undefined {
  const uses = secondUses(seen);
  if (uses.length === 0) return undefined;
  const parts = (['ended', 'open'] as const).flatMap((when) => {
    const [one] = uses.filter((use) => use.isFirstOpen === (when === 'open'));
    return one === undefined ? [] : [{ fate: fateOf(one), when: moments[when] }];
  });
  const [first, second] = parts;
  const isAlike = second === undefined || second.fate === first?.fate;
  const text = isAlike
    ? `${first?.fate} ${parts.map(({ when }) => when).join(', and ')}`
    : parts.map(({ fate, when }) => `${fate} ${when}`).join(', ');
  const evidence = uses.flatMap(({ first: stream, stream: again }) => [stream, again]);
  return observed(`a second use is ${text}`, evidence);
}

function fateOf({ isConfirmed, stream }: SecondUse): string {
  if (isConfirmed) return 'accepted';
  return isServiceEnd(stream.exchange.end) ? 'refused' : 'not answered';
}

import { audience, tokenLifetimeSeconds } from '../protocol/claims.ts';
import { secondsText } from '../protocol/time-text.ts';
import { type Finding, fail, mostSevere, pass, type Rule, type Seen, show, unknown, warn } from './rule.ts';
import { deviceOf, grantsSeen, isProper, type SeenGrant, serviceTime } from './token-seen.ts';

const section = 'JWT claims';

/** The token that was granted. */
export const claimRules: readonly Rule[] = [
  {
    id: 'R9',
    section: 'Token response (JSON body)',
    title: 'the token is a JWT',
    says: 'token: string, JWT, valid for 1 minute.',
    judge: (seen) => judgeEach(grantsSeen(seen), judgeJwt),
  },
  {
    id: 'R10',
    section,
    title: 'sub is the device ID',
    says: 'sub: the device ID from the request.',
    judge: (seen) =>
      judgeEach(readable(seen).filter(isProper), (grant) => {
        const device = deviceOf(grant);
        const { sub } = claimsOf(grant);
        if (sub === device) return pass('sub is the device of the request', grant);
        return fail(`sub is ${show(sub)}, the device is ${show(device)}`, grant);
      }),
  },
  {
    id: 'R11',
    section,
    title: 'iat is the issue time',
    says: 'iat: issue time, as a numeric timestamp.',
    judge: (seen) => judgeEach(readable(seen), judgeIssueTime),
  },
  {
    id: 'R12',
    section,
    title: `exp is ${tokenLifetimeSeconds} s after iat`,
    says: 'exp: expiry, numeric timestamp, equal to iat + 60 seconds.',
    judge: (seen) =>
      judgeEach(readable(seen), (grant) => {
        const { iat, exp } = claimsOf(grant);
        if (typeof exp !== 'number') return fail(`exp is ${show(exp)}`, grant);
        if (typeof iat !== 'number') return unknown(`exp is ${exp}, iat is ${show(iat)}`, grant);
        const lifetime = exp - iat;
        const message = `exp is ${lifetime} s after iat`;
        return lifetime === tokenLifetimeSeconds ? pass(message, grant) : fail(message, grant);
      }),
  },
  {
    id: 'R13',
    section,
    title: `aud is ${audience}`,
    says: `aud: the constant ${audience}.`,
    judge: (seen) =>
      judgeEach(readable(seen), (grant) => {
        const { aud } = claimsOf(grant);
        if (aud === audience) return pass(`aud is ${audience}`, grant);
        const isList = Array.isArray(aud) && aud.length === 1 && aud[0] === audience;
        return isList ? warn(`aud is a list: ${show(aud)}`, grant) : fail(`aud is ${show(aud)}`, grant);
      }),
  },
  {
    id: 'R14',
    section,
    title: 'iss is one fixed string',
    says: 'iss: a fixed issuer string.',
    judge: judgeIssuer,
  },
];

function claimsOf({ exchange }: SeenGrant): Record<string, unknown> {
  return exchange.granted.claims ?? {};
}

/** Tokens whose claims can be read; the others are judged not to be JWTs. */
function readable(seen: readonly Seen[]): SeenGrant[] {
  return grantsSeen(seen).filter(({ exchange }) => exchange.granted.claims !== undefined);
}

function judgeEach(granted: readonly SeenGrant[], judge: (grant: SeenGrant) => Finding): Finding | undefined {
  return mostSevere(granted.map(judge));
}

function judgeJwt(grant: SeenGrant): Finding {
  const { header, claims, flaw } = grant.exchange.granted;
  if (header === undefined || claims === undefined)
    return fail('the token is not three base64url parts that contain JSON', grant);
  if (flaw !== undefined) return fail(`the token is not three base64url parts: ${flaw}`, grant);
  const { signature } = grant;
  if (signature === undefined) return pass(`a JWT, signed with ${show(header.alg)}`, grant);
  if (signature === 'valid') return pass('a JWT, verified with the published key', grant);
  return fail(`no published key verifies the token: ${signature.refused}`, grant);
}

/** `Date` is in whole seconds, and so may `iat` be. */
const resolutionMs = 1_000;

function judgeIssueTime(grant: SeenGrant): Finding {
  const { iat } = claimsOf(grant);
  if (typeof iat !== 'number') return fail(`iat is ${show(iat)}`, grant);
  const answeredAt = serviceTime(grant);
  if (answeredAt === undefined) return unknown(`iat is ${iat}; the answer has no Date header`, grant);
  const offMs = iat * 1000 - answeredAt;
  const isNear = offMs >= -2 * resolutionMs - grant.exchange.totalMs && offMs <= resolutionMs;
  if (isNear) return pass('iat matches the time of the answer', grant);
  return fail(`iat is ${iat}, ${secondsText(offMs, 1)} off the service’s time`, grant);
}

function judgeIssuer(seen: readonly Seen[]): Finding | undefined {
  const granted = readable(seen);
  const issuers = [...new Set(granted.map((grant) => claimsOf(grant).iss))];
  if (granted.length === 0) return undefined;
  if (issuers.some((iss) => typeof iss !== 'string' || iss === ''))
    return fail(`iss is ${issuers.map(show).join(', ')}`, granted);
  // What a second try shows cannot undo this.
  if (issuers.length > 1)
    return { ...fail(`iss changes: ${issuers.map(show).join(', ')}`, granted), isProof: true };
  return pass(`iss is ${show(issuers[0])}`, granted);
}

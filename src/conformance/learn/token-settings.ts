import { isDeepStrictEqual } from 'node:util';
import { reservedClaims, tokenLifetimeSeconds } from '../../protocol/claims.ts';
import { isSigningAlgorithm } from '../../protocol/dialect.ts';
import { ownValue } from '../../protocol/parse-json.ts';
import type { SeenGrant } from '../../rules/token-seen.ts';
import { learned, notProbed, quote, type Remark, type Setting, unlearned } from './setting.ts';
import { confirmedAt, type LearnView, serviceClose, shownAfterMs } from './view.ts';

const lifetimeMs = tokenLifetimeSeconds * 1000;
const grantSteps = ['E1', 'E2', 'E3'] as const;
/** Ages at which an expired token is presented, in seconds past `exp`. */
const overdue = [2, 6, 12, 31, 61] as const;
/** The steps that present an expired token, soonest first. */
export const lateSteps = overdue.map((seconds) => `A${60 + seconds}`);
/** If one of these lies between two ages, it is the likely value: services use round numbers. */
const usualLeeways = [0, 5, 10, 30, 60] as const;

export const learnedTokenSettings: readonly Setting[] = [
  {
    path: 'token.algorithm',
    steps: grantSteps,
    how: '`alg` of the header',
    infer({ grants: [first] }) {
      const alg = headerOf(first)?.alg;
      if (alg === undefined) return undefined;
      return isSigningAlgorithm(alg)
        ? learned(alg, `alg of ${first?.id}`)
        : unlearned(`${first?.id} is signed with ${quote(alg)}`);
    },
  },
  {
    path: 'token.issuer',
    steps: grantSteps,
    how: '`iss`, if it is the same in each token',
    infer: ({ grants }) => constantOf(grants, 'iss'),
  },
  {
    path: 'token.header',
    steps: grantSteps,
    how: 'fields of the header that are the same in each token',
    infer: ({ grants }) => {
      if (headerOf(grants[0]) === undefined) return undefined;
      const constant = constants(grants.map((grant) => headerOf(grant) ?? {}));
      const { alg: _alg, typ, ...others } = constant;
      const header = typ === 'JWT' || typ === undefined ? others : { typ, ...others };
      return learned(header, `header of ${idsOf(grants)}`);
    },
  },
  {
    path: 'token.extraClaims',
    steps: grantSteps,
    how: 'claims that are not in the specification, if they are the same in each token',
    infer: ({ grants }) => {
      if (claimsOf(grants[0]) === undefined) return undefined;
      return learned(constants(grants.map(extraClaims)), `claims of ${idsOf(grants)}`);
    },
  },
  {
    path: 'token.jti',
    steps: grantSteps,
    how: 'whether the token has a `jti` claim',
    infer({ grants: [first] }) {
      const claims = claimsOf(first);
      return claims && learned('jti' in claims, `claims of ${first?.id}`);
    },
  },
  {
    path: 'token.singleUse',
    steps: ['S1', 'S2'],
    how: 'the token of S1 is presented again',
    infer(view) {
      const [first, again] = [view.stream('S1'), view.stream('S2')];
      if (first === undefined || again === undefined || confirmedAt(first) === undefined) return undefined;
      if (confirmedAt(again) !== undefined) return learned(false, 'S2 was confirmed');
      if (serviceClose(again) === undefined) return undefined;
      return isLateReuse(view)
        ? unlearned('S2 presented a token that had expired')
        : learned(true, 'S2 was refused');
    },
  },
  {
    path: 'token.clockToleranceSeconds',
    steps: lateSteps,
    how: 'tokens are presented 2 to 61 s past `exp`, until the first refusal: this gives a lower and an upper bound',
    infer: inferLeeway,
  },
  notProbed('token.secret', 'a service never reveals its secret'),
  notProbed('token.privateKey', 'a service never reveals its private key'),
];

export const tokenRemarks: readonly Remark[] = [
  {
    steps: grantSteps,
    find(view) {
      const seconds = lifetimeOf(view);
      if (seconds === undefined || seconds === tokenLifetimeSeconds) return undefined;
      return `tokens live ${seconds} s (exp − iat), but the specification says ${tokenLifetimeSeconds} s`;
    },
  },
  {
    steps: ['S1', 'S9', 'S2'],
    find(view) {
      const [during, after] = ['S9', 'S2'].map((id) => {
        const stream = view.stream(id);
        return stream && confirmedAt(stream) !== undefined;
      });
      if (during === undefined || after === undefined || during === after) return undefined;
      const when = during
        ? 'while its stream is open, but not afterwards'
        : 'after its stream has ended, but not before';
      return `a token is accepted again ${when}`;
    },
  },
  varyingRemark('claims', extraClaims),
  varyingRemark('header fields', (grant) => headerOf(grant) ?? {}),
];

function varyingRemark(what: string, fieldsOf: (grant: SeenGrant) => Record<string, unknown>): Remark {
  return {
    steps: grantSteps,
    find({ grants }) {
      const varying = varyingNames(grants.map(fieldsOf));
      return varying.length === 0
        ? undefined
        : `${what} that differ from token to token: ${varying.join(', ')}`;
    },
  };
}

/** Whether the token was used again only after its life: it may be refused for that. */
export function isLateReuse(view: LearnView): boolean {
  const again = view.stream('S2');
  const ageMs = again && shownAfterMs(view, again);
  return ageMs !== undefined && ageMs >= lifetimeMs;
}

/** `exp` − `iat` of the tokens, if it is the same for all. */
export function lifetimeOf({ grants }: LearnView): number | undefined {
  const [first, ...others] = grants.map((grant) => {
    const { iat, exp } = claimsOf(grant) ?? {};
    return typeof iat === 'number' && typeof exp === 'number' ? exp - iat : undefined;
  });
  return others.every((one) => one === first) ? first : undefined;
}

function inferLeeway(view: LearnView) {
  const shown = lateSteps.flatMap((id) => {
    const stream = view.stream(id);
    const ageMs = stream && shownAfterMs(view, stream);
    if (stream === undefined || ageMs === undefined) return [];
    // A slow service is asked later than was planned.
    const pastSeconds = (ageMs - lifetimeMs) / 1000;
    const isAccepted = confirmedAt(stream) !== undefined;
    return [{ isAccepted, fromSeconds: Math.floor(pastSeconds), untilSeconds: Math.round(pastSeconds) }];
  });
  if (shown.length === 0) return undefined;
  const refused = shown.find(({ isAccepted }) => !isAccepted)?.untilSeconds;
  const accepted = shown.findLast(({ isAccepted }) => isAccepted)?.fromSeconds;
  if (refused === undefined)
    return unlearned(`accepted ${accepted} s past exp: longer than the dialect can express`);
  const value = usualLeeways.find((usual) => usual >= (accepted ?? 0) && usual < refused) ?? accepted ?? 0;
  const from = accepted === undefined ? 'less than' : `${accepted} to`;
  const evidence = `${from} ${refused} s: refused ${refused} s past exp`;
  return learned(value, evidence, [accepted ?? 0, refused]);
}

function headerOf(grant: SeenGrant | undefined) {
  return grant?.exchange.granted.header;
}

function claimsOf(grant: SeenGrant | undefined) {
  return grant?.exchange.granted.claims;
}

function extraClaims(grant: SeenGrant): Record<string, unknown> {
  const claims = Object.entries(claimsOf(grant) ?? {});
  return Object.fromEntries(claims.filter(([name]) => !reservedClaims.includes(name)));
}

function constantOf(grants: readonly SeenGrant[], name: string) {
  const values = grants.map((grant) => ownValue(claimsOf(grant), name));
  const [first] = values;
  if (typeof first !== 'string' || first === '') return undefined;
  return values.every((value) => value === first)
    ? learned(first, `${name} of ${idsOf(grants)}`)
    : unlearned(`${name} differs from token to token`);
}

/** The fields that every one of these has with the same value. */
function constants(all: readonly Record<string, unknown>[]): Record<string, unknown> {
  const [first = {}, ...others] = all;
  const same = Object.entries(first).filter(([name, value]) =>
    others.every((other) => isDeepStrictEqual(ownValue(other, name), value)),
  );
  return Object.fromEntries(same);
}

function varyingNames(all: readonly Record<string, unknown>[]): string[] {
  const constant = constants(all);
  const names = new Set(all.flatMap((one) => Object.keys(one)));
  return [...names].filter((name) => !Object.hasOwn(constant, name));
}

function idsOf(grants: readonly SeenGrant[]): string {
  const ids = grants.map(({ id }) => id);
  return ids.length > 3 ? `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more` : ids.join(', ');
}

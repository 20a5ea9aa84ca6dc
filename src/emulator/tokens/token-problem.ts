import { errors } from 'jose';
import { messageOf } from '../../kernel/errors.ts';
import { findToken, sendAlone, type TokenProblem } from '../../protocol/first-message.ts';
import { secondsText } from '../../protocol/time-text.ts';
import { maxFieldLength } from '../../protocol/token-request.ts';
import { readToken } from '../../wire/token-facts.ts';

const askAgain = 'request a new token for each connection';

/** The claims of the token in a text before anything is verified. The text may hold more than the token. */
export function readUnverified(text: string): { sub?: string; jti?: string } {
  const { sub, jti } = readToken(findToken(text) ?? '')?.claims ?? {};
  return {
    ...(typeof sub === 'string' ? { sub: sub.slice(0, maxFieldLength) } : {}),
    ...(typeof jti === 'string' ? { jti } : {}),
  };
}

export interface VerifyContext {
  /** Seconds since the epoch. */
  nowSeconds: number;
  algorithm: string;
  issuer: string;
  audience: string;
  /** Whether this emulator issued a token with this `jti`. */
  isOurs: boolean;
}

/** Why a token of the right form is refused; `thrown` comes from the library that verifies. */
export function verifyProblem(thrown: unknown, context: VerifyContext): TokenProblem {
  if (thrown instanceof errors.JWTExpired) {
    const { exp = context.nowSeconds } = thrown.payload;
    return { why: `the token expired ${roundedSecondsText(context.nowSeconds - exp)} ago`, advice: askAgain };
  }
  if (thrown instanceof errors.JWSSignatureVerificationFailed) return signatureProblem(context);
  if (thrown instanceof errors.JOSEAlgNotAllowed)
    return {
      why: `the token is not signed with ${context.algorithm}`,
      advice: 'send a token from this emulator',
    };
  if (thrown instanceof errors.JWTClaimValidationFailed)
    return claimProblem(thrown.claim, thrown.payload, context);
  return {
    why: `the token cannot be read (${messageOf(thrown)})`,
    advice: sendAlone,
  };
}

function signatureProblem({ isOurs }: VerifyContext): TokenProblem {
  if (isOurs)
    return {
      why: 'the token was altered after it was issued: its signature does not match',
      advice: sendAlone,
    };
  return {
    why: 'the token was signed with another key: it comes from another emulator, or from before this one started',
    advice: 'request the token from this emulator',
  };
}

function claimProblem(
  claim: string,
  payload: Record<string, unknown>,
  { issuer, audience }: VerifyContext,
): TokenProblem {
  const expected = { iss: issuer, aud: audience }[claim];
  const given = payload[claim];
  const advice = 'request the token from this emulator';
  if (given === undefined) return { why: `the token has no ${claim} claim`, advice };
  if (expected === undefined) return { why: `the ${claim} claim is invalid`, advice };
  return { why: `the ${claim} claim is ${JSON.stringify(given)}, expected "${expected}"`, advice };
}

/** A duration in seconds, with a useful number of digits. */
export function roundedSecondsText(value: number): string {
  return secondsText(value * 1000, value < 100 ? 1 : 0);
}

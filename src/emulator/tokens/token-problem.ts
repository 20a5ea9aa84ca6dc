import { decodeJwt, errors } from 'jose';
import { messageOf } from '../../kernel/thrown.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { parseJson } from '../../protocol/parse-json.ts';
import { maxFieldLength } from '../../protocol/token-request.ts';
import { maxTokenBytes } from '../../protocol/token-response.ts';

/** Why a token is refused, and what to send instead: two sentences without a full stop. */
export interface TokenProblem {
  why: string;
  advice: string;
}

/** A JWT as compact text, and one somewhere within other text. */
const wholeToken = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const tokenWithin = /(?<![\w-])eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/;
const sendAlone = 'send the token alone, just as the token endpoint gave it';
const askAgain = 'request a new token for each connection';

/** Whether text has the form of a JWT. */
export function isTokenText(text: string): boolean {
  return wholeToken.test(text);
}

/** Whether the text contains a JWT. */
export function holdsToken(text: string): boolean {
  return tokenWithin.test(text);
}

/** The claims of the token in a text before anything is verified. The text may hold more than the token. */
export function readUnverified(text: string): { sub?: string; jti?: string } {
  const token = isTokenText(text) ? text : tokenWithin.exec(text.slice(0, maxTokenBytes))?.[0];
  if (token === undefined) return {};
  try {
    const { sub, jti } = decodeJwt(token);
    return {
      ...(typeof sub === 'string' ? { sub: sub.slice(0, maxFieldLength) } : {}),
      ...(typeof jti === 'string' ? { jti } : {}),
    };
  } catch {
    return {};
  }
}

/** What is wrong with the form of a first message; undefined if it has the form of a token. */
export function formProblem(text: string): TokenProblem | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxTokenBytes)
    return { why: `the first message has ${bytes} bytes, more than any token`, advice: sendAlone };
  if (isTokenText(text)) return undefined;
  if (text.trim() === '') return { why: 'the first message is empty', advice: 'send the token' };
  if (isTokenText(text.trim()))
    return { why: 'there is white space or a line break around the token', advice: sendAlone };
  if (/^bearer\b/i.test(text)) return { why: 'the token comes after the word Bearer', advice: sendAlone };
  const unquoted = /^(["'`])(.*)\1$/s.exec(text.trim())?.[2];
  if (unquoted !== undefined && isTokenText(unquoted))
    return { why: 'the token is in quotes', advice: sendAlone };
  if (isRecord(parseJson(text))) return jsonProblem(text);
  if (tokenWithin.test(text)) return { why: 'there is other text around the token', advice: sendAlone };
  if (text.startsWith('eyJ')) return { why: `the token is cut off after ${bytes} bytes`, advice: sendAlone };
  return {
    why: `the first message (${bytes} bytes) is not a JWT: a JWT has three base64url parts with dots between them`,
    advice: sendAlone,
  };
}

function jsonProblem(text: string): TokenProblem {
  return tokenWithin.test(text)
    ? { why: 'the token is wrapped in JSON', advice: sendAlone }
    : {
        why: 'the first message is JSON without a token',
        advice: 'send the token first, alone, as text',
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
    return { why: `the token expired ${seconds(context.nowSeconds - exp)} ago`, advice: askAgain };
  }
  if (thrown instanceof errors.JWSSignatureVerificationFailed) return signatureProblem(context);
  if (thrown instanceof errors.JOSEAlgNotAllowed)
    return {
      why: `the token is not signed with ${context.algorithm}`,
      advice: 'send a token of this emulator',
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
      why: 'the token was altered after it was issued: its signature does not fit',
      advice: sendAlone,
    };
  return {
    why: 'another key signed the token: it comes from another service, or from before this emulator started',
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
  if (given === undefined) return { why: `the token has no claim ${claim}`, advice };
  if (expected === undefined) return { why: `the claim ${claim} is invalid`, advice };
  return { why: `the claim ${claim} is ${JSON.stringify(given)}, expected "${expected}"`, advice };
}

/** A duration in seconds, with a useful number of digits. */
export function seconds(value: number): string {
  return value < 100 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;
}

import type { InvalidCase } from './dialect.ts';
import { type ErrorDetails, isRecord } from './error-body.ts';
import { isNestedWithin, parseJson } from './parse-json.ts';

/** Body of the token request. Specification: "Token request (JSON body)". */
export interface TokenRequest {
  apiKey: string;
  deviceId: string;
}

/** Sent if no key is set, to this machine only. An emulator without configured keys accepts it. */
export const developmentKey = 'voicectl-development-key';

/** Why a body is not a token request: the text and details of an INVALID_REQUEST. */
export interface InvalidTokenRequest {
  case: InvalidCase;
  message: string;
  details?: ErrorDetails;
  /** The device that the body names, if it names one. */
  deviceId?: string;
}

export type ParsedTokenRequest =
  | { ok: true; request: TokenRequest }
  | { ok: false; problem: InvalidTokenRequest };

/** Media type of the token request and of its answers. */
export const jsonMediaType = 'application/json';

/** Bounds that the specification leaves open; generous compared with any real key or device ID. */
export const maxTokenRequestBytes = 16 * 1024;
export const maxFieldLength = 256;
const maxNesting = 32;

/** The names of the fields of the body. */
export const tokenRequestFields = ['apiKey', 'deviceId'] as const;
const casesOf = {
  apiKey: { missing: 'missingApiKey', empty: 'emptyApiKey' },
  deviceId: { missing: 'missingDeviceId', empty: 'emptyDeviceId' },
} as const;
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a token request, by the rules 1 and 2 of "POST /api/websocket-voice/token": both fields are
 * required non-empty strings, and the body is valid JSON. Unknown fields are ignored.
 */
export function parseTokenRequest(body: Uint8Array): ParsedTokenRequest {
  const root = parseUtf8(body);
  if (root === undefined) return invalid('invalidJson', 'Request body is not valid JSON');
  if (!isRecord(root)) return invalid('notAnObject', 'Request body must be a JSON object');
  const problem = tokenRequestFields
    .map((field) => fieldProblem(field, root))
    .find((found) => found !== undefined);
  const named = fieldProblem('deviceId', root) === undefined ? { deviceId: root.deviceId as string } : {};
  if (problem !== undefined) {
    const details = { field: problem.field, expected: 'string' };
    return { ok: false, problem: { case: problem.case, message: problem.message, details, ...named } };
  }
  const hasOthers = Object.keys(root).length > tokenRequestFields.length;
  if (hasOthers && !isNestedWithin(root, maxNesting, forbiddenKeys))
    return invalid('badNesting', 'Request body contains a forbidden key or is nested too deeply', named);
  return { ok: true, request: { apiKey: root.apiKey as string, deviceId: root.deviceId as string } };
}

function parseUtf8(body: Uint8Array): unknown {
  try {
    return parseJson(utf8.decode(body));
  } catch {
    return undefined;
  }
}

function invalid(
  of: InvalidCase,
  message: string,
  named: Pick<InvalidTokenRequest, 'deviceId'> = {},
): ParsedTokenRequest {
  return { ok: false, problem: { case: of, message, ...named } };
}

type Field = (typeof tokenRequestFields)[number];

function fieldProblem(field: Field, root: Record<string, unknown>) {
  const value = Object.hasOwn(root, field) ? root[field] : undefined;
  const { missing, empty } = casesOf[field];
  const found = (of: InvalidCase, message: string) => ({ field, case: of, message });
  if (value === undefined || value === null) return found(missing, `Missing required field: ${field}`);
  if (typeof value !== 'string') return found('wrongType', `Field ${field} must be a string`);
  if (value.trim() === '') return found(empty, `Field ${field} must not be empty`);
  if (value.length > maxFieldLength)
    return found('tooLong', `Field ${field} is longer than ${maxFieldLength} characters`);
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value))
    return found('badCharacters', `Field ${field} contains control characters`);
  if (!value.isWellFormed()) return found('badCharacters', `Field ${field} is not well-formed Unicode`);
  return undefined;
}

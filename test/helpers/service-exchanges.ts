import { createRedactor } from '../../src/kernel/redact.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import type { Finding, Rule, Seen } from '../../src/rules/rule.ts';
import type { Header, TokenExchange, WireMessage } from '../../src/wire/exchange.ts';
import { tokenFacts } from '../../src/wire/token-facts.ts';

/** The wall clock when `at` is 0: a whole second. */
export const epochMs = 1_800_000_000_000;
const epochSeconds = epochMs / 1000;

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token as the specification says, issued at this moment; `claims` change it, and undefined takes one away. */
export function serviceToken(at = 0, claims: Record<string, unknown> = {}): string {
  const iat = Math.floor((epochMs + at) / 1000);
  const own = { sub: 'd1', iat, exp: iat + 60, aud: 'voice-api', iss: 'voice', jti: `j${at}` };
  return `${part({ alg: 'HS256' })}.${part({ ...own, ...claims })}.c2lnbmF0dXJl`;
}

interface Answered {
  at?: number;
  method?: string;
  path?: string;
  device?: string;
  /** The body of the request. */
  asked?: string;
  requestHeaders?: readonly Header[];
  status?: number;
  /** Change the headers of the answer; undefined takes one away. */
  headers?: Record<string, string | undefined>;
  remaining?: number;
  claims?: Record<string, unknown>;
  /** The token that is granted; null: none. */
  token?: string | null;
  body?: string;
  totalMs?: number;
}

const accepts: readonly Header[] = [
  ['Content-Type', 'application/json'],
  ['Accept', 'application/json'],
];

/** A valid request of a device with an answer as the specification says, in every point that is not changed. */
export function answered({
  at = 0,
  method = 'POST',
  path = tokenPath(),
  device = 'd1',
  asked = JSON.stringify({ apiKey: '[redacted]', deviceId: device }),
  requestHeaders = accepts,
  status = 200,
  headers = {},
  remaining = 59,
  claims = {},
  token = serviceToken(at, { sub: device, ...claims }),
  body = token === null ? '' : '{"token":"[redacted]"}',
  totalMs = 5,
}: Answered = {}): TokenExchange {
  const wallAt = epochMs + at;
  const right = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, no-store, must-revalidate',
    Date: new Date(wallAt).toUTCString(),
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(epochSeconds + 60),
  };
  const told = Object.entries({ ...right, ...headers }).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    kind: 'token',
    at,
    wallAt,
    request: { method, url: `https://voice.test${path}`, headers: requestHeaders, body: asked },
    answer: { status, headers: told, body, firstByteMs: 1 },
    granted: token === null ? undefined : tokenFacts(token, createRedactor()),
    breakdown: undefined,
    totalMs,
  };
}

/** A request that was refused, by default as the specification says of an invalid one. */
export function refused({
  status = 400,
  error = { code: 'INVALID_REQUEST', message: 'invalid' } as unknown,
  body = JSON.stringify({ error }),
  ...rest
}: Omit<Answered, 'token'> & { error?: unknown } = {}): TokenExchange {
  return answered({ ...rest, status, body, token: null });
}

/** A text message of the service. */
export function tells(text: string, at = 0): WireMessage {
  return { at, from: 'service', opcode: 'text', text, bytes: Buffer.byteLength(text) };
}

/** A message of AI audio. */
export function replies(at: number, data: Buffer = Buffer.alloc(640)): WireMessage {
  return { at, from: 'service', opcode: 'binary', data, bytes: data.length };
}

/** What a rule of this list finds, in a line: `fail: answered 201 (X1)`; undefined if none of it is about the rule. */
export function finding(rules: readonly Rule[], id: string, seen: readonly Seen[]): string | undefined {
  const rule = rules.find((one) => one.id === id);
  if (rule === undefined) throw new Error(`there is no rule ${id}`);
  return tellFinding(rule.judge(seen));
}

export function tellFinding(found: Finding | undefined): string | undefined {
  return found && `${found.verdict}: ${found.message} (${found.evidence.join(' ')})`;
}

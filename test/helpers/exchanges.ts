import { createRedactor } from '../../src/kernel/redact.ts';
import type { Header, TokenExchange, Upgrade } from '../../src/wire/exchange.ts';
import { tokenFacts } from '../../src/wire/token-facts.ts';

const base = 'voice.test';

/** A token request that was granted, as evidence; all its times are relative to `at`. */
export function grantedExchange({
  at = 0,
  token = 't.o.k',
  headers = [] as readonly Header[],
  totalMs = 5,
} = {}): TokenExchange {
  const url = `http://${base}/api/websocket-voice/token`;
  return {
    kind: 'token',
    at,
    wallAt: at,
    request: { method: 'POST', url, headers: [], body: '{}' },
    answer: { status: 200, headers, body: '{"token":"[redacted]"}', firstByteMs: 3 },
    granted: tokenFacts(token, createRedactor()),
    breakdown: undefined,
    totalMs,
  };
}

/** An upgrade that opened a stream. */
export function openedUpgrade(at = 0): Upgrade {
  return {
    at,
    wallAt: at,
    request: { method: 'GET', url: `ws://${base}/voice-stream`, headers: [], body: '' },
    answer: { status: 101, headers: [], body: '', firstByteMs: 0 },
    breakdown: undefined,
    totalMs: 0,
  };
}

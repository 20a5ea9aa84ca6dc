import { createRedactor } from '../../src/kernel/redact.ts';
import type { Seen } from '../../src/rules/rule.ts';
import type {
  Header,
  StreamEnd,
  StreamExchange,
  TokenExchange,
  WireMessage,
} from '../../src/wire/exchange.ts';
import { readPresented, tokenFacts } from '../../src/wire/token-facts.ts';
import { openedUpgrade } from './exchanges.ts';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT that is told from others by its `jti`; undefined: it has none. */
export function jwt(jti: string | number | undefined): string {
  return `${part({ alg: 'HS256' })}.${part({ sub: 'd1', jti })}.c2lnbmF0dXJl`;
}

interface Asked {
  at?: number;
  method?: string;
  headers?: readonly Header[];
  body?: string;
  /** The token that is granted. */
  token?: string;
  status?: number;
  answerHeaders?: readonly Header[];
  totalMs?: number;
}

/** A token request of a device, as the service sees it. */
export function asks({
  at = 0,
  method = 'POST',
  headers = [['Content-Type', 'application/json']],
  body = '{"apiKey":"[redacted]","deviceId":"d1"}',
  token,
  status = token === undefined ? 401 : 200,
  answerHeaders = [],
  totalMs = 0,
}: Asked = {}): TokenExchange {
  return {
    kind: 'token',
    at,
    wallAt: at,
    request: { method, url: '/api/websocket-voice/token', headers, body },
    answer: { status, headers: answerHeaders, body: '', firstByteMs: 0 },
    granted: token === undefined ? undefined : tokenFacts(token, createRedactor()),
    breakdown: undefined,
    totalMs,
  };
}

interface Connects {
  at?: number;
  messages?: readonly WireMessage[];
  end?: { at: number; by: 'device' | 'service'; code?: number; breakdown?: StreamEnd['breakdown'] };
}

/** A stream that a device opened. */
export function connects({ at = 0, messages = [], end }: Connects = {}): StreamExchange {
  return {
    kind: 'stream',
    upgrade: openedUpgrade(at),
    messages,
    end: end && { code: 1000, reason: '', breakdown: undefined, ...end },
  };
}

export function presents(token: string, at = 0, opcode: 'text' | 'binary' = 'text'): WireMessage {
  return { at, from: 'device', ...readPresented(token, opcode === 'binary', createRedactor()) };
}

export function confirms(at = 0): WireMessage {
  const text = '{"type":"service_voice_connected"}';
  return { at, from: 'service', opcode: 'text', text, bytes: text.length };
}

/** Audio of a device, by default a tone in frames of 20 ms. */
export function speaks(
  at: number,
  {
    ms = 0,
    everyMs = 20,
    frame = (index: number) => toneFrame(index),
  }: { ms?: number; everyMs?: number; frame?: (index: number) => Buffer } = {},
): WireMessage[] {
  const count = Math.max(1, Math.round(ms / everyMs));
  return Array.from({ length: count }, (_, index) => {
    const data = frame(index);
    return { at: at + index * everyMs, from: 'device', opcode: 'binary', data, bytes: data.length } as const;
  });
}

/** 20 ms of a 440 Hz tone. */
export function toneFrame(index: number): Buffer {
  const pcm = Buffer.alloc(640);
  for (let at = 0; at < 320; at += 1)
    pcm.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 440 * (index * 320 + at)) / 16_000)), at * 2);
  return pcm;
}

/** Exchanges with names, as evidence. */
export function seenAs(...exchanges: readonly (TokenExchange | StreamExchange)[]): Seen[] {
  return exchanges.map((exchange, index) => ({ id: `X${index + 1}`, exchange }));
}

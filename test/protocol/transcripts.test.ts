import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readError } from '../../src/protocol/error-body.ts';
import { readServiceMessage } from '../../src/protocol/messages.ts';
import { readRateLimitHeaders } from '../../src/protocol/rate-limit.ts';
import { readTokenResponse } from '../../src/protocol/token-response.ts';

interface Transcript {
  name: string;
  description: string;
  http: { response: { status: number; headers: [string, string][]; body: string } };
  stream: { from: 'client' | 'service'; type: string; text?: string; base64?: string }[];
  expect: {
    kinds: string[];
    audioBytesIn: number;
    errorCode?: string;
    rateLimit?: { limit?: number; remaining?: number; resetInMs?: number };
  };
}

const folder = new URL('../../fixtures/transcripts/', import.meta.url);
const transcripts = readdirSync(folder).map(
  (file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Transcript,
);

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The text messages of the service, as `ws` gives them to a client: those that are UTF-8. */
function serviceMessages({ stream }: Transcript) {
  const texts = stream.filter((step) => step.from === 'service' && step.type === 'text');
  return texts.flatMap(({ text }) => (text === undefined ? [] : [readServiceMessage(text)]));
}

describe.each(transcripts)('$name: $description', (transcript) => {
  const { response } = transcript.http;
  const expected = transcript.expect;

  test('the token is found where the stream goes on, and nowhere else', () => {
    const token = readTokenResponse(tryJson(response.body));
    const presented = transcript.stream.find((step) => step.from === 'client' && step.type === 'text');
    expect(token).toBe(presented?.text);
  });

  test.runIf(expected.rateLimit !== undefined)('the rate limit is what its headers say', () => {
    const headers = new Map(response.headers.map(([name, value]) => [name.toLowerCase(), value]));
    const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
    const { limit, remaining, resetAtMs } = readRateLimitHeaders(
      (name) => headers.get(name.toLowerCase()),
      nowMs,
    );
    expect({ limit, remaining, resetInMs: resetAtMs === undefined ? undefined : resetAtMs - nowMs }).toEqual({
      limit: expected.rateLimit?.limit,
      remaining: expected.rateLimit?.remaining,
      resetInMs: expected.rateLimit?.resetInMs,
    });
  });

  test('the messages are of the kinds that they say', () => {
    const kinds = serviceMessages(transcript).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind !== undefined)).toEqual(expected.kinds);
  });

  test.runIf(expected.errorCode !== undefined)('the code of the error is found', () => {
    const codes = serviceMessages(transcript).map(({ error }) => error?.code);
    if (response.status !== 200) codes.push(readError(tryJson(response.body)).code);
    expect(codes.find((code) => code !== undefined)).toBe(expected.errorCode);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
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

test.each(transcripts)(
  '$name: the token is found where the stream goes on, and nowhere else',
  (transcript) => {
    const token = readTokenResponse(tryJson(transcript.http.response.body));
    const presented = transcript.stream.find((step) => step.from === 'client' && step.type === 'text');
    expect(token).toBe(presented?.text);
  },
);

test.each(transcripts.filter((transcript) => transcript.expect.rateLimit !== undefined))(
  '$name: the rate limit is what its headers say',
  ({ http, expect: { rateLimit } }) => {
    const headers = new Map(http.response.headers.map(([name, value]) => [name.toLowerCase(), value]));
    const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
    const read = readRateLimitHeaders((name) => headers.get(name.toLowerCase()), nowMs);
    const resetInMs = read.resetAtMs === undefined ? undefined : read.resetAtMs - nowMs;
    expect({ limit: read.limit, remaining: read.remaining, resetInMs }).toEqual({
      limit: rateLimit?.limit,
      remaining: rateLimit?.remaining,
      resetInMs: rateLimit?.resetInMs,
    });
  },
);

test.each(transcripts)('$name: the messages are of the kinds that they claim to be', (transcript) => {
  const kinds = serviceMessages(transcript).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind !== undefined)).toEqual(transcript.expect.kinds);
});

test.each(transcripts.filter((transcript) => transcript.expect.errorCode !== undefined))(
  '$name: the code of the error is found',
  (transcript) => {
    const { response } = transcript.http;
    const codes = serviceMessages(transcript).map(({ error }) => error?.code);
    if (response.status !== 200) codes.push(readError(tryJson(response.body)).code);
    expect(codes.find((code) => code !== undefined)).toBe(transcript.expect.errorCode);
  },
);

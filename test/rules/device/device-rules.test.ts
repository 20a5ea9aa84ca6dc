import { describe, expect, test } from 'vitest';
import { redacted } from '../../../src/kernel/redact.ts';
import { deviceRules } from '../../../src/rules/device/catalogue.ts';
import type { Seen } from '../../../src/rules/rule.ts';
import type { StreamExchange, TokenExchange, WireMessage } from '../../../src/wire/exchange.ts';
import {
  asks,
  confirms,
  connects,
  jwt,
  presents,
  seenAs,
  speaks,
  toneFrame,
} from '../../helpers/device-exchanges.ts';
import { epochMs, finding, replies, tells } from '../../helpers/service-exchanges.ts';

const [one, two] = [jwt('one'), jwt('two')];
const json = [['Content-Type', 'application/json']] as const;
const opaque = 'a-token-that-is-no-jwt';
const limited = (at: number, answerHeaders: readonly (readonly [string, string])[] = [], totalMs = 0) =>
  asks({ at, status: 429, answerHeaders, totalMs });
const unanswered = (at = 0): TokenExchange => ({ ...asks({ at }), answer: undefined });
const s = 1_000;
/** Confirmed streams that the service closes with 1012 at these times, and the request after each. */
const restarts = (...rounds: readonly { from: number; to: number; back: number }[]) =>
  rounds.flatMap(({ from, to, back }, index) => [
    live(jwt(`t${index}`), from, to, 'service', 1012),
    asks({ at: back, token: jwt(`t${index + 1}`) }),
  ]);
/** A moment this long after ours, in headers that say when to try again. */
const dated = (afterMs: number): [name: string, value: string][] => [
  ['Retry-After', new Date(epochMs + afterMs).toUTCString()],
  ['X-RateLimit-Reset', String((epochMs + afterMs) / 1_000)],
];
const retryAfter = (value: string) => [['Retry-After', value]] as const;
const live = (token: string, at: number, endAt?: number, by: 'device' | 'service' = 'service', code = 1011) =>
  connects({
    at,
    messages: [presents(token, at), confirms(at + 1)],
    ...(endAt === undefined ? {} : { end: { at: endAt, by, code } }),
  });
const refused = (token: string, at: number) =>
  connects({ at, messages: [presents(token, at)], end: { at: at + 5, by: 'service', code: 4401 } });
/** The device ends the stream because of what the service sent. */
function garbled(token: string, at: number): StreamExchange {
  const stream = connects({
    at,
    messages: [presents(token, at)],
    end: { at: at + 5, by: 'device', code: 1002 },
  });
  const breakdown = { by: 'service', code: 'protocol-violation', message: 'a reserved bit is set' } as const;
  return { ...stream, end: stream.end && { ...stream.end, breakdown } };
}
/** An upgrade that was answered with 401. */
function barred(at: number): StreamExchange {
  const stream = connects({ at });
  const answer = { status: 401, headers: [], body: '', firstByteMs: 0 };
  return { ...stream, upgrade: { ...stream.upgrade, answer } };
}
const beats = (at: number, from: 'device' | 'service', opcode: 'ping' | 'pong'): WireMessage => ({
  ...{ at, from, opcode },
  bytes: 0,
});
/** A confirmed stream with more messages, which the device ends with this code. */
const ended = (code: number, ...more: readonly WireMessage[]) =>
  seenAs(connects({ messages: [presents(one), confirms(1), ...more], end: { at: 99, by: 'device', code } }));
const withTokenIn = (tokenIn: string, stream: StreamExchange): StreamExchange => ({
  ...stream,
  upgrade: { ...stream.upgrade, tokenIn },
});
const slowly = (totalMs: number, stream: StreamExchange): StreamExchange => ({
  ...stream,
  upgrade: { ...stream.upgrade, totalMs },
});
/** Streams that open one after the other and stay open. */
const open = (count: number) => Array.from({ length: count }, (_, index) => live(jwt(`t${index}`), index));

/** Text messages of the device that hold audio. */
const asTexts = (count: number, write: (audio: string) => string) =>
  Array.from({ length: count }, (_, index): WireMessage => {
    const text = write(toneFrame(index).toString('base64'));
    return { at: 2 + 20 * index, from: 'device', opcode: 'text', text, bytes: text.length };
  });

/** The samples of audio in base64, as numbers. */
const samplesOf = (audio: string) => {
  const pcm = Buffer.from(audio, 'base64');
  return Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(2 * at));
};

/** The names of exchanges from the first number to the last. */
const list = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `X${first + index}`).join(' ');

type Case = [id: string, what: string, found: string | undefined, seen: Seen[]];

const cases: Case[] = [
  ['D1', 'a request as specified', 'pass: POST, JSON, both fields (X1)', seenAs(asks({ token: one }))],
  ['D1', 'a GET', 'fail: it uses GET, expected POST (X1)', seenAs(asks({ method: 'GET' }))],
  ['D1', 'a preflight of a browser', undefined, seenAs(asks({ method: 'OPTIONS' }))],
  [
    'D1',
    'a form',
    'fail: Content-Type is "application/x-www-form-urlencoded", expected application/json (X1)',
    seenAs(asks({ headers: [['content-type', 'application/x-www-form-urlencoded']] })),
  ],
  [
    'D1',
    'no content type',
    'fail: Content-Type is missing, expected application/json (X1)',
    seenAs(asks({ headers: [] })),
  ],
  [
    'D1',
    'no JSON',
    'fail: the body is not a JSON object (X1)',
    seenAs(asks({ headers: json, body: 'apiKey=1' })),
  ],
  ['D1', 'no device', 'fail: deviceId is missing (X1)', seenAs(asks({ body: '{"apiKey":"[redacted]"}' }))],
  [
    'D1',
    'an empty key',
    'fail: apiKey is "", expected a string that is not empty (X1)',
    seenAs(asks({ body: '{"apiKey":"","deviceId":"d"}' })),
  ],
  [
    'D1',
    'a list as key',
    'fail: apiKey is a list, expected a string that is not empty (X1)',
    seenAs(asks({ body: '{"apiKey":["sk-real-key-1"],"deviceId":"d"}' })),
  ],
  [
    'D1',
    'a number as key',
    'fail: apiKey is a number, expected a string that is not empty (X1)',
    seenAs(asks({ body: '{"apiKey":4711081512345,"deviceId":"d"}' })),
  ],
  [
    'D1',
    'a number as device',
    'fail: deviceId is 7, expected a string that is not empty (X1)',
    seenAs(asks({ body: '{"apiKey":"k","deviceId":7}' })),
  ],

  [
    'D2',
    'the token as text',
    'pass: the JWT comes first, as text (X2)',
    seenAs(asks({ token: one }), live(one, 1)),
  ],
  [
    'D2',
    'the second token of two',
    'pass: the JWT comes first, as text (X3)',
    seenAs(asks({ token: opaque }), asks({ token: two }), live(two, 1)),
  ],
  [
    'D2',
    'a granted token that is no JWT',
    'pass: the JWT comes first, as text (X3)',
    seenAs(asks({ token: one }), asks({ at: 1, token: opaque }), live(opaque, 1)),
  ],
  ['D2', 'a token of elsewhere', 'pass: a JWT comes first, as text (X1)', seenAs(live(one, 1))],
  [
    'D2',
    'the token in binary',
    'fail: the token arrived as a binary message: send it as a text message (X1)',
    seenAs(connects({ messages: [presents(one, 1, 'binary')] })),
  ],
  [
    'D2',
    'the token in quotes',
    'fail: the token is in quotes: send the token alone, exactly as the token endpoint returned it (X2)',
    seenAs(asks({ token: one }), connects({ messages: [presents(`"${one}"`, 1)] })),
  ],
  [
    'D2',
    'Bearer before it',
    'fail: the token comes after the word Bearer: send the token alone, exactly as the token endpoint returned it (X2)',
    seenAs(asks({ token: one }), connects({ messages: [presents(`Bearer ${one}`, 1)] })),
  ],
  [
    'D2',
    'something else around it',
    'fail: there is other text around the token: send the token alone, exactly as the token endpoint returned it (X2)',
    seenAs(asks({ token: one }), connects({ messages: [presents(`JWT: ${one}`, 1)] })),
  ],
  [
    'D2',
    'something shorter',
    'fail: the first message (1 byte) is not a JWT: a JWT has three base64url parts with dots between them: send the token alone, exactly as the token endpoint returned it (X2)',
    seenAs(asks({ token: one }), connects({ messages: [presents('x', 1)] })),
  ],
  [
    'D2',
    'something of elsewhere',
    'fail: the first message (1 byte) is not a JWT: a JWT has three base64url parts with dots between them: send the token alone, exactly as the token endpoint returned it (X1)',
    seenAs(connects({ messages: [presents('x', 1)] })),
  ],
  [
    'D2',
    'quotes around a token before a longer one',
    'fail: the token is in quotes: send the token alone, exactly as the token endpoint returned it (X2)',
    seenAs(
      asks({ token: one }),
      connects({ at: 1, messages: [presents(`"${one}"`, 1)] }),
      asks({ at: 2, token: `${two}longer` }),
    ),
  ],
  [
    'D2',
    'a token as it was granted, though its parts are padded',
    'pass: the JWT comes first, as text (X2)',
    seenAs(asks({ token: `${one}=` }), live(`${one}=`, 1)),
  ],
  [
    'D2',
    'audio before it',
    'fail: the first message is binary (640 bytes) and not a token: send the token first, alone, as text (X1)',
    seenAs(connects({ messages: [...speaks(1), presents(one, 2)] })),
  ],
  [
    'D2',
    'a ping before it',
    'pass: a JWT comes first, as text (X1)',
    seenAs(connects({ messages: [beats(1, 'device', 'ping'), presents(one, 2)] })),
  ],
  [
    'D2',
    'a message of the service before it',
    'pass: a JWT comes first, as text (X1)',
    seenAs(connects({ messages: [tells('{"type":"hello"}', 1), presents(one, 2)] })),
  ],
  [
    'D2',
    'nothing at all',
    'fail: no token arrived: send it as the first text message (X1)',
    seenAs(connects({ end: { at: 5_000, by: 'service', code: 4408 } })),
  ],
  [
    'D2',
    'nothing, because the service ends the stream at once',
    undefined,
    seenAs(connects({ at: 100, end: { at: 105, by: 'service', code: 1006 } })),
  ],
  [
    'D2',
    'nothing within a second after an upgrade that took its time',
    undefined,
    seenAs(slowly(900, connects({ at: 100, end: { at: 1_999, by: 'service', code: 1006 } }))),
  ],
  [
    'D2',
    'nothing for a second',
    'fail: no token arrived: send it as the first text message (X1)',
    seenAs(connects({ at: 100, end: { at: 1_100, by: 'service', code: 4408 } })),
  ],
  [
    'D2',
    'the token only in the URL, and the service ends the stream at once',
    'fail: the token arrived in the URL, where the service does not look for it: send it as the first text message (X1)',
    seenAs(withTokenIn('the URL', connects({ end: { at: 5, by: 'service', code: 4401 } }))),
  ],
  [
    'D2',
    'nothing, until the device leaves',
    undefined,
    seenAs(connects({ end: { at: 5_000, by: 'device', code: 1000 } })),
  ],
  [
    'D2',
    'the token in the URL as well',
    'warn: the token also arrived in the URL: send it as the first message only (X1)',
    seenAs(withTokenIn('the URL', live(one, 1))),
  ],
  [
    'D2',
    'the token once more, as another message',
    'warn: a token arrived in a later message: send it as the first message only (X1)',
    seenAs(
      connects({
        messages: [
          presents(one, 1),
          confirms(2),
          { at: 3, from: 'device', opcode: 'text', text: redacted, bytes: 99 },
        ],
      }),
    ),
  ],
  ['D2', 'nothing yet', undefined, seenAs(connects())],
  ['D2', 'an upgrade that was refused', undefined, seenAs(barred(1))],

  [
    'D3',
    'a token for each connection',
    'pass: 2 connections, each with its own token, used within 0.0 s (X2 X4)',
    seenAs(asks({ token: one }), live(one, 1, 9), asks({ at: 10, token: two }), live(two, 15)),
  ],
  [
    'D3',
    'one connection',
    'pass: one connection, one token, used within 1.0 s (X2)',
    seenAs(asks({ at: 100, token: one, totalMs: 50 }), live(one, 1_150)),
  ],
  [
    'D3',
    'a connection without a token too',
    'pass: one connection, one token, used within 0.0 s (X3)',
    seenAs(connects(), asks({ token: one }), live(one, 1)),
  ],
  [
    'D3',
    'a token of elsewhere beside another',
    'pass: 2 connections, each with its own token, used within 0.0 s (X3 X1)',
    seenAs(live(two, 3_000), asks({ token: one }), live(one, 1)),
  ],
  [
    'D3',
    'one token for two',
    'fail: the token of an earlier connection was presented again (jti one) (X2 X3)',
    seenAs(asks({ token: one }), live(one, 1, 9), live(one, 11)),
  ],
  [
    'D3',
    'one token for two, seen in another order',
    'fail: the token of an earlier connection was presented again (jti one) (X3 X1)',
    seenAs(live(one, 11), asks({ token: one }), live(one, 1, 9)),
  ],
  [
    'D3',
    'one token for the second and third',
    'fail: the token of an earlier connection was presented again (jti one) (X2 X3)',
    seenAs(live(two, 0, 1), live(one, 1, 9), live(one, 11)),
  ],
  [
    'D3',
    'one token without jti for two',
    'fail: the token of an earlier connection was presented again (token Tej9Kpbe…) (X1 X2)',
    seenAs(live(jwt(undefined), 1, 9), live(jwt(undefined), 11)),
  ],
  [
    'D3',
    'one token whose jti is a number for two',
    'fail: the token of an earlier connection was presented again (token QSHg3c-J…) (X1 X2)',
    seenAs(live(jwt(7), 1, 9), live(jwt(7), 11)),
  ],
  [
    'D3',
    'a token that was granted twice',
    'pass: 2 connections, each with its own token, used within 0.0 s (X2 X4)',
    seenAs(asks({ token: one }), live(one, 1, 9), asks({ at: 10, token: one }), live(one, 11)),
  ],
  [
    'D3',
    'one token for two, and another granted',
    'fail: the token of an earlier connection was presented again (jti one) (X3 X4)',
    seenAs(asks({ token: two }), asks({ token: one }), live(one, 1, 9), live(one, 11)),
  ],
  ['D3', 'no JWT, twice', undefined, seenAs(live(opaque, 1, 9), live(opaque, 11))],
  [
    'D3',
    'a token that lay about',
    'fail: a token was presented 30.0 s after it was issued (X1 X2)',
    seenAs(asks({ token: one }), live(one, 30_000)),
  ],
  [
    'D3',
    'a token of ten seconds',
    'pass: one connection, one token, used within 10.0 s (X2)',
    seenAs(asks({ token: one }), live(one, 10_000)),
  ],
  [
    'D3',
    'a token of more than ten seconds',
    'fail: a token was presented 10.0 s after it was issued (X1 X2)',
    seenAs(asks({ token: one }), live(one, 10_001)),
  ],
  [
    'D3',
    'a refused token shown again, which D8 is about',
    'pass: 2 connections, each with its own token, used within 0.0 s (X2 X3)',
    seenAs(asks({ token: one }), refused(one, 1), refused(one, 20)),
  ],

  [
    'D4',
    'audio after the confirmation',
    'pass: audio began 1.5 s after the confirmation (X1)',
    seenAs(connects({ messages: [presents(one), confirms(500), ...speaks(2_000)] })),
  ],
  [
    'D4',
    'audio together with the confirmation',
    'pass: audio began 0.0 s after the confirmation (X1)',
    seenAs(connects({ messages: [presents(one), confirms(500), ...speaks(500)] })),
  ],
  [
    'D4',
    'audio before it',
    'fail: audio was sent 1.5 s before the confirmation (X1)',
    seenAs(connects({ messages: [presents(one), ...speaks(500), confirms(2_000)] })),
  ],
  [
    'D4',
    'audio after it, which came after other messages',
    'pass: audio began 0.1 s after the confirmation (X1)',
    seenAs(
      connects({
        messages: [presents(one), replies(1), tells('{"type":"status"}', 2), confirms(500), ...speaks(600)],
      }),
    ),
  ],
  [
    'D4',
    'audio after a status, and no confirmation',
    'fail: audio was sent, but the stream was never confirmed (X1)',
    seenAs(
      connects({
        messages: [presents(one), tells('{"type":"status"}', 2), ...speaks(600)],
        end: { at: 5_000, by: 'service', code: 4408 },
      }),
    ),
  ],
  [
    'D4',
    'audio without it, while the stream is open',
    'fail: audio was sent before the confirmation (X1)',
    seenAs(connects({ messages: [presents(one), ...speaks(3)] })),
  ],
  ['D4', 'no audio', 'pass: no audio before the confirmation (X1)', seenAs(live(one, 1))],
  ['D4', 'no audio and no confirmation', undefined, seenAs(connects({ messages: [presents(one)] }))],

  [
    'D5',
    'a tone in real time',
    'pass: 4.0 s of audio fit the format, at 1 × real time (X1)',
    seenAs(connects({ messages: speaks(0, { ms: 4_000 }) })),
  ],
  ['D5', 'no audio', undefined, seenAs(live(one, 1))],
  ...Object.entries<[kind: string, write: (audio: string) => string]>({
    'as base64': ['base64', (audio) => audio],
    'as JSON with base64': ['JSON', (audio) => JSON.stringify({ type: 'audio', audio })],
    'as JSON with lists of samples': ['JSON', (audio) => JSON.stringify({ audio: samplesOf(audio) })],
    'as lists of samples': ['JSON', (audio) => JSON.stringify(samplesOf(audio), undefined, 2)],
  }).map(
    ([how, [kind, write]]): Case => [
      'D5',
      `audio ${how} in text messages`,
      `fail: audio is sent as ${kind} in text messages: send the bytes as binary messages (X1)`,
      seenAs(connects({ messages: [presents(one), confirms(1), ...asTexts(5, write)] })),
    ],
  ),
  [
    'D5',
    'a few texts that look like audio',
    undefined,
    seenAs(connects({ messages: [presents(one), confirms(1), ...asTexts(4, (audio) => audio)] })),
  ],
  [
    'D5',
    'too little',
    'unknown: only 0.5 s of audio: too little to judge its pace (X1)',
    seenAs(connects({ messages: speaks(0, { ms: 500 }) })),
  ],
  [
    'D5',
    'twice as fast',
    'fail: this looks like 32 kHz, 16 kHz stereo, or 16 kHz sent too fast (2 × real time): send 16 kHz mono, one 640-byte message every 20 ms (X1)',
    seenAs(connects({ messages: speaks(0, { ms: 4_000, everyMs: 10 }) })),
  ],
  [
    'D5',
    'all at once',
    'fail: 20.0 s of audio arrived within 2 s (X1)',
    seenAs(connects({ messages: speaks(0, { ms: 1_000, everyMs: 1 }) })),
  ],
  [
    'D5',
    'half a second of audio at once, each half second',
    'fail: 250 of 250 messages came in bursts: spread them over time (X1)',
    seenAs(
      connects({
        messages: Array.from({ length: 10 }, (_, burst) =>
          speaks(burst * 500, { ms: 500 }).map((message) => ({ ...message, at: burst * 500 + 0.01 })),
        ).flat(),
      }),
    ),
  ],
  [
    'D5',
    'half samples',
    'fail: messages end within a sample: send whole samples (X1)',
    seenAs(
      connects({ messages: speaks(0, { ms: 4_000, frame: (index) => toneFrame(index).subarray(0, 639) }) }),
    ),
  ],
  [
    'D5',
    'silence',
    'warn: nothing but silence for 5 s: is the microphone on? (X1)',
    seenAs(connects({ messages: speaks(0, { ms: 8_000, frame: () => Buffer.alloc(640) }) })),
  ],

  [
    'D6',
    'it waits as told',
    'pass: it tried again 2.1 s after 429; Retry-After said 2.0 s (X1 X2)',
    seenAs(limited(0, retryAfter('2')), asks({ at: 2_100, token: one })),
  ],
  [
    'D6',
    'it waits as told, after an answer that took its time',
    'pass: it tried again 2.0 s after 429; Retry-After said 2.0 s (X2 X3)',
    seenAs(asks({ at: 50, token: two }), limited(100, retryAfter('2'), 300), asks({ at: 2_400, token: one })),
  ],
  [
    'D6',
    'another request was under way already',
    'pass: it tried again 2.0 s after 429; Retry-After said 2.0 s (X1 X3)',
    seenAs(limited(0, retryAfter('2'), 100), asks({ at: 50, token: two }), asks({ at: 2_100, token: one })),
  ],
  [
    'D6',
    'it does not wait',
    'fail: it tried again 0.3 s after 429; Retry-After said 12.0 s (X1 X2)',
    seenAs(limited(0, retryAfter('12')), asks({ at: 300, token: one })),
  ],
  [
    'D6',
    'it is a little early',
    'pass: it tried again 1.9 s after 429; Retry-After said 2.0 s (X1 X2)',
    seenAs(limited(0, retryAfter('2')), asks({ at: 1_850, token: one })),
  ],
  [
    'D6',
    'it is too early',
    'fail: it tried again 1.8 s after 429; Retry-After said 2.0 s (X1 X2)',
    seenAs(limited(0, retryAfter('2')), asks({ at: 1_849, token: one })),
  ],
  [
    'D6',
    'it waits for the reset',
    'pass: it tried again 3.0 s after 429; X-RateLimit-Reset said 3.0 s (X1 X2)',
    seenAs(limited(0, [['X-RateLimit-Reset', '3']]), asks({ at: 3_000, token: one })),
  ],
  [
    'D6',
    'it waits as Retry-After says, which is more exact than the reset',
    'pass: it tried again 2.0 s after 429; Retry-After said 2.0 s (X1 X2)',
    seenAs(
      limited(0, [
        ['X-RateLimit-Reset', '3'],
        ['Retry-After', '2'],
      ]),
      asks({ at: 2_000, token: one }),
    ),
  ],
  [
    'D6',
    'it waits until a moment',
    'fail: it tried again 0.5 s after 429; Retry-After said 3.5 s (X1 X2)',
    seenAs(
      { ...limited(0, retryAfter(new Date(epochMs + 4_000).toUTCString()), 500), wallAt: epochMs },
      asks({ at: 1_000, token: one }),
    ),
  ],
  ...(
    [
      ['of its answer', 'pass', 0, 20_000],
      ['of the service, whose clock is ahead', 'pass', 30_000, 20_000],
      ['of the service, within the second of its Date', 'pass', 30_000, 18_850],
      ['of the service, but is too early', 'fail', 30_000, 18_849],
      ['of ours, though the clock of the service is behind', 'fail', -30_000, 3_000],
    ] as const
  ).flatMap(([what, verdict, aheadMs, waitMs]) =>
    dated(aheadMs + 20_000).map(
      ([name, value]): Case => [
        'D6',
        `it waits until the moment ${what}, in ${name}: ${value}`,
        `${verdict}: it tried again ${(waitMs / 1_000).toFixed(1)} s after 429; ${name} said 20.0 s (X1 X2)`,
        seenAs(
          {
            ...limited(0, [
              ['Date', new Date(epochMs + aheadMs).toUTCString()],
              [name, value],
            ]),
            wallAt: epochMs,
          },
          asks({ at: waitMs, token: one }),
        ),
      ],
    ),
  ),
  [
    'D6',
    'it waits as told in seconds, exactly, though the answer has a Date',
    'fail: it tried again 1.8 s after 429; Retry-After said 2.0 s (X1 X2)',
    seenAs(
      limited(0, [['Date', new Date(epochMs).toUTCString()], ...retryAfter('2')]),
      asks({ at: 1_849, token: one }),
    ),
  ],
  [
    'D6',
    'waits that grow',
    'pass: it waited 1.0 s, 2.0 s, 4.0 s (X1 X2 X3 X4)',
    seenAs(...[0, 1_000, 3_000, 7_000].map((at) => limited(at))),
  ],
  [
    'D6',
    'waits that grow, seen in another order',
    'pass: it waited 1.0 s, 2.0 s, 4.0 s (X2 X4 X3 X1)',
    seenAs(...[7_000, 0, 3_000, 1_000].map((at) => limited(at))),
  ],
  [
    'D6',
    'waits that grow, until it is granted',
    'pass: it waited 1.0 s, 2.0 s, 4.0 s (X2 X3 X4 X5)',
    seenAs(
      asks({ token: two }),
      ...[100, 1_100, 3_100].map((at) => limited(at)),
      asks({ at: 7_100, token: one }),
    ),
  ],
  [
    'D6',
    'waits that do not',
    'fail: it waited 2.0 s, 2.0 s, 2.0 s: the waits do not grow (X1 X2 X3 X4)',
    seenAs(...[0, 2_000, 4_000, 6_000].map((at) => limited(at))),
  ],
  [
    'D6',
    'waits that do not, as told',
    'pass: it tried again 2.0 s after 429; Retry-After said 2.0 s (X1 X2 X3 X4)',
    seenAs(...[0, 2_000, 4_000, 6_000].map((at) => limited(at, at === 0 ? retryAfter('2') : []))),
  ],
  [
    'D6',
    'a storm',
    'fail: 7 requests in 0.6 s, while it was rate limited (X1 X2 X3 X4 X5 X6 X7 X8 X9)',
    seenAs(...Array.from({ length: 9 }, (_, index) => limited(index * 100))),
  ],
  [
    'D6',
    'a refusal an hour before others',
    'pass: it waited 1.0 s, 2.0 s, 4.0 s (X3 X4 X5 X1 X2 X6)',
    seenAs(
      ...[limited(0), asks({ at: s, token: one })],
      ...[3_600 * s, 3_601 * s, 3_603 * s].map((at) => limited(at)),
      asks({ at: 3_607 * s, token: two }),
    ),
  ],
  [
    'D6',
    'a refusal a minute before others',
    'pass: it tried again 60.0 s after 429 (X1 X2 X3 X4)',
    seenAs(...[0, 60 * s, 61 * s, 63 * s].map((at) => limited(at))),
  ],
  [
    'D6',
    'refusals that are each followed by a grant',
    'pass: it tried again 1.0 s after 429 (X1 X2 X3 X4 X5 X6 X7 X8)',
    seenAs(...[0, 5, 10, 15].flatMap((at) => [limited(at * s), asks({ at: (at + 1) * s, token: jwt(at) })])),
  ],
  [
    'D6',
    'waits that do not grow, long after others',
    'fail: it waited 2.0 s, 2.0 s, 2.0 s: the waits do not grow (X2 X3 X4 X5)',
    seenAs(...[0, 60, 62, 64, 66].map((at) => limited(at * s))),
  ],
  [
    'D6',
    'a storm in which some are granted',
    'fail: 7 requests in 1.3 s, while it was rate limited (X1 X2 X4 X5 X7 X8 X10 X11)',
    seenAs(
      ...Array.from({ length: 12 }, (_, index) =>
        index % 3 === 2 ? asks({ at: index * 140, token: jwt(index) }) : limited(index * 140),
      ),
    ),
  ],
  ['D6', 'it gives up', 'unknown: it did not try again after 429 (X1)', seenAs(limited(0))],
  ['D6', 'it is refused otherwise', undefined, seenAs(asks())],
  ['D6', 'it has no answer', undefined, seenAs(unanswered())],

  ['D7', 'it does not connect', 'pass: it did not connect after 401 (X1)', seenAs(asks())],
  [
    'D7',
    'it has no answer',
    'pass: it did not connect after a request without an answer (X1)',
    seenAs(unanswered()),
  ],
  ['D7', 'it is rate limited, which D6 is about', undefined, seenAs(limited(0))],
  ['D7', 'it is granted a token', undefined, seenAs(asks({ token: one }))],
  ['D7', 'it connects anyway', 'fail: it connected after 401 (X1 X2)', seenAs(asks(), connects({ at: 5 }))],
  [
    'D7',
    'it connects as soon as the answer is there',
    'fail: it connected after 401 (X1 X2)',
    seenAs(asks({ totalMs: 5 }), connects({ at: 5 })),
  ],
  [
    'D7',
    'it tries to connect, and is refused',
    'pass: it did not connect after 401 (X1)',
    seenAs(asks(), barred(5)),
  ],
  [
    'D7',
    'it connects without a token',
    'fail: it connected after 200 without a token (X1 X2)',
    seenAs(asks({ status: 200 }), connects({ at: 5 })),
  ],
  [
    'D7',
    'it connects, and gets a token later',
    'fail: it connected after 401 (X1 X2)',
    seenAs(asks(), connects({ at: 5 }), asks({ at: 10, token: one })),
  ],
  [
    'D7',
    'it connected before it asked',
    'pass: it did not connect after 401 (X2)',
    seenAs(connects({ at: 0 }), asks({ at: 5 })),
  ],
  [
    'D7',
    'it connected before it was answered',
    'pass: it did not connect after 401 (X2)',
    seenAs(connects({ at: 5 }), asks({ at: 4, totalMs: 2 })),
  ],
  [
    'D7',
    'it connects with a token that it had before',
    'pass: it did not connect after 401 (X2)',
    seenAs(asks({ token: one, totalMs: 5 }), asks({ at: 2 }), live(one, 5)),
  ],
  [
    'D7',
    'it connects twice with one token',
    'fail: it connected after 401 (X3 X4)',
    seenAs(asks({ token: one }), live(one, 1), asks({ at: 2 }), live(one, 5)),
  ],
  [
    'D7',
    'it connects with a new token',
    'pass: it tried again 0.0 s after 401 (X1)',
    seenAs(asks(), asks({ at: 10, token: one, totalMs: 5 }), live(one, 15)),
  ],
  [
    'D7',
    'a storm',
    'fail: 7 requests in 0.6 s, all of them refused (X1 X2 X3 X4 X5 X6 X7)',
    seenAs(...Array.from({ length: 7 }, (_, index) => asks({ at: index * 100 }))),
  ],
  [
    'D7',
    'it asks again, then connects',
    'pass: it tried again 1.0 s after 401 (X1)',
    seenAs(asks({ at: 100, totalMs: 200 }), asks({ at: 1_300, token: one }), live(one, 1_301)),
  ],

  [
    'D8',
    'it asks for a new one',
    'pass: it requested a new token after 0.5 s (X2 X3)',
    seenAs(asks({ token: one }), refused(one, 0), asks({ at: 505, token: two }), live(two, 506)),
  ],
  [
    'D8',
    'it asks for a new one at once',
    'pass: it requested a new token after 0.0 s (X2 X3)',
    seenAs(asks({ token: one }), refused(one, 0), asks({ at: 5, token: two })),
  ],
  [
    'D8',
    'it asks for a new one, and is refused',
    'pass: it requested a new token after 1.0 s, which was not granted (X2 X3)',
    seenAs(asks({ token: one }), refused(one, 0), asks({ at: 1_005 })),
  ],
  [
    'D8',
    'it shows the old one again',
    'fail: the refused token was presented again (jti one) (X2 X3)',
    seenAs(asks({ token: one }), refused(one, 0), refused(one, 100)),
  ],
  [
    'D8',
    'it shows one again that is no JWT',
    'fail: the refused token was presented again (token PLXDjJ-W…) (X1 X2)',
    seenAs(refused(opaque, 0), refused(opaque, 100)),
  ],
  [
    'D8',
    'it is granted the same one again',
    'pass: it requested a new token after 0.0 s (X2 X3)',
    seenAs(asks({ token: one }), refused(one, 0), asks({ at: 50, token: one }), live(one, 100)),
  ],
  [
    'D8',
    'it asks for a new one after the service broke the protocol',
    'pass: it requested a new token after 0.5 s (X2 X3)',
    seenAs(asks({ token: one }), garbled(one, 0), asks({ at: 505, token: two }), live(two, 506)),
  ],
  [
    'D8',
    'it does not come back',
    'unknown: it did not reconnect after its token was refused (X2)',
    seenAs(asks({ token: one }), refused(one, 0)),
  ],
  ['D8', 'it is accepted', undefined, seenAs(asks({ token: one }), live(one, 1, 9))],
  [
    'D8',
    'it leaves without an answer',
    undefined,
    seenAs(connects({ messages: [presents(one)], end: { at: 9, by: 'device' } })),
  ],
  ['D8', 'it has no answer yet', undefined, seenAs(connects({ messages: [presents(one)] }))],

  [
    'D9',
    'it comes back',
    'pass: closed with 1011; it reconnected after 1.0 s (X2 X3)',
    seenAs(asks({ token: one }), live(one, 1, 100), asks({ at: 1_100, token: two })),
  ],
  [
    'D9',
    'it comes back at once',
    'pass: closed with 1011; it reconnected after 0.0 s (X1 X2)',
    seenAs(live(one, 1, 100), asks({ at: 100, token: two })),
  ],
  [
    'D9',
    'it does not',
    'unknown: closed with 1011; it did not reconnect (X2)',
    seenAs(asks({ token: one }), live(one, 1, 100)),
  ],
  ['D9', 'the stream goes on', undefined, seenAs(live(one, 1), asks({ at: 100, token: two }))],
  [
    'D9',
    'it ended the stream itself',
    undefined,
    seenAs(live(one, 1, 100, 'device'), asks({ at: 200, token: two })),
  ],
  [
    'D9',
    'calls that end normally, one after the other',
    undefined,
    seenAs(
      ...Array.from({ length: 8 }, (_, index) => [
        asks({ at: index * 50, token: jwt(`t${index}`) }),
        live(jwt(`t${index}`), index * 50 + 1, index * 50 + 40, 'service', 1000),
      ]).flat(),
    ),
  ],
  [
    'D9',
    'many attempts before the interruption',
    'pass: closed with 1011; it reconnected after 0.1 s (X16 X17)',
    seenAs(
      ...Array.from({ length: 7 }, (_, index) => [
        asks({ at: index * 50, token: jwt(`t${index}`) }),
        live(jwt(`t${index}`), index * 50 + 1, index * 50 + 40, 'device', 1000),
      ]).flat(),
      asks({ at: 400, token: one }),
      live(one, 401, 500),
      asks({ at: 600, token: two }),
    ),
  ],
  ['D9', 'it was refused', undefined, seenAs(refused(one, 1), asks({ at: 200, token: two }))],
  [
    'D9',
    'it comes back at once, again and again',
    'fail: closed with 1011, then 7 attempts in 0.3 s (X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15)',
    seenAs(
      ...Array.from({ length: 8 }, (_, index) => [
        asks({ at: index * 50, token: jwt(`t${index}`) }),
        live(jwt(`t${index}`), index * 50 + 1, index * 50 + 40),
      ]).flat(),
    ),
  ],
  [
    'D9',
    'at intervals that do not grow',
    'fail: interrupted repeatedly, it reconnected after 2.0 s, 2.0 s, 2.0 s: the waits do not grow (X2 X3 X4 X5 X6 X7 X8 X9)',
    seenAs(
      ...Array.from({ length: 5 }, (_, index) => [
        asks({ at: index * 2_000, token: jwt(`t${index}`) }),
        live(jwt(`t${index}`), index * 2_000 + 1, index * 2_000 + 40),
      ]).flat(),
    ),
  ],
  [
    'D9',
    'an interruption an hour before others',
    'pass: closed with 1012; it reconnected after 1.0 s (X1 X2 X3 X4 X5 X6 X7 X8)',
    seenAs(
      ...restarts(
        { from: -60 * s, to: 0, back: s },
        { from: s, to: 3_600 * s, back: 3_601 * s },
        { from: 3_601 * s, to: 3_602 * s, back: 3_604 * s },
        { from: 3_604 * s, to: 3_604.5 * s, back: 3_608.5 * s },
      ),
    ),
  ],
  [
    'D9',
    'a call that ended well between two interruptions',
    'pass: closed with 1012; it reconnected after 1.0 s (X1 X2 X4 X5 X6 X7 X8 X9)',
    seenAs(
      ...restarts({ from: -60 * s, to: 0, back: s }),
      live(jwt('call'), 2 * s, 300 * s, 'device', 1000),
      ...restarts(
        { from: 3_600 * s, to: 3_605 * s, back: 3_606 * s },
        { from: 3_606 * s, to: 3_606.5 * s, back: 3_608.5 * s },
        { from: 3_608.5 * s, to: 3_609 * s, back: 3_613 * s },
      ),
    ),
  ],
  ...(
    [
      [
        'steadily',
        [2.5, 2.5, 2.5, 2.5],
        'fail: interrupted repeatedly, it reconnected after 3.5 s, 3.5 s, 3.5 s: the waits do not grow',
      ],
      ['later each time', [1, 2, 4, 8], 'pass: closed with 1012; it reconnected after 1.0 s'],
    ] as const
  ).map(([how, waits, found]): Case => {
    const ends = waits.map((_, index) => waits.slice(0, index).reduce((sum, wait) => sum + wait + 1, 0) * s);
    return [
      'D9',
      `two streams that end together, and return ${how}`,
      `${found} (X1 X3 X2 X5 X7 X6 X9 X11 X10 X13 X15 X14)`,
      seenAs(
        ...ends.flatMap((end, index) => [
          live(jwt(`a${index}`), end - s / 2, end, 'service', 1012),
          live(jwt(`b${index}`), end - s / 2, end, 'service', 1012),
          asks({ at: end + waits[index]! * s, token: jwt(`a${index + 1}`) }),
          asks({ at: end + waits[index]! * s + 50, token: jwt(`b${index + 1}`) }),
        ]),
      ),
    ];
  }),
  [
    'D9',
    'many requests after one lost stream, not yet presented',
    'pass: closed with 1012; it reconnected after 1.0 s (X1 X2)',
    seenAs(
      live('t', -60 * s, 0, 'service', 1012),
      ...Array.from({ length: 8 }, (_, index) => asks({ at: s + index * 100, token: jwt(index) })),
    ),
  ],
  [
    'D9',
    'many requests after one lost stream, of which the last one opens a stream',
    'fail: closed with 1012, then 7 attempts in 0.6 s (X1 X2)',
    seenAs(
      live('t', -60 * s, 0, 'service', 1012),
      ...Array.from({ length: 8 }, (_, index) => asks({ at: s + index * 100, token: jwt(index) })),
      live(jwt(7), 1.9 * s),
    ),
  ],
  [
    'D9',
    'a stream of ten seconds before it begins to spread again',
    'pass: closed with 1012; it reconnected after 1.0 s (X1 X2 X3 X4 X5 X6 X7 X8)',
    seenAs(
      ...restarts(
        { from: -60 * s, to: 0, back: s },
        { from: s, to: 11 * s, back: 12 * s },
        { from: 12 * s, to: 12.5 * s, back: 14 * s },
        { from: 14 * s, to: 14.1 * s, back: 18 * s },
      ),
    ),
  ],
  [
    'D9',
    'intervals that do not grow, long after another interruption',
    'fail: interrupted repeatedly, it reconnected after 2.0 s, 2.0 s, 2.0 s: the waits do not grow (X3 X4 X5 X6 X7 X8 X9 X10)',
    seenAs(
      ...restarts(
        { from: -60 * s, to: 0, back: s },
        ...[100, 102, 104, 106].map((at) => ({
          from: at === 100 ? s : (at - 1) * s,
          to: at * s,
          back: (at + 1) * s,
        })),
      ),
    ),
  ],
  [
    'D9',
    'ten streams end at once, and each comes back',
    `pass: closed with 1012; it reconnected after 1.0 s (X1 X11 ${list(2, 10)})`,
    seenAs(
      ...Array.from({ length: 10 }, (_, index) => live(jwt(`t${index}`), index, 60 * s, 'service', 1012)),
      ...Array.from({ length: 10 }, (_, index) => asks({ at: 61 * s + index * 100, token: jwt(index) })),
    ),
  ],
  [
    'D9',
    'streams that end one shortly after the other, and come back at once',
    'pass: closed with 1012; it reconnected after 0.0 s (X1 X5 X2 X6 X3 X7 X4 X8)',
    seenAs(
      ...Array.from({ length: 4 }, (_, index) =>
        live(jwt(`t${index}`), index, 60 * s + index * 50, 'service', 1012),
      ),
      ...Array.from({ length: 4 }, (_, index) => asks({ at: 60 * s + index * 50 + 5, token: jwt(index) })),
    ),
  ],
  [
    'D9',
    'ten streams end at once, and each tries seven times within ten seconds',
    `fail: closed with 1012, then 70 attempts in 6.9 s (X1 X11 ${list(2, 10)})`,
    seenAs(
      ...Array.from({ length: 10 }, (_, index) => live(jwt(`t${index}`), index, 60 * s, 'service', 1012)),
      ...Array.from({ length: 70 }, (_, index) => asks({ at: 61 * s + index * 100, token: jwt(index) })),
      asks({ at: 71 * s, token: jwt(70) }),
    ),
  ],
  [
    'D9',
    'many streams that last come back together with one that ended',
    'pass: closed with 1012; it reconnected after 1.0 s (X1 X2)',
    seenAs(
      live('t', -60 * s, 0, 'service', 1012),
      ...Array.from({ length: 8 }, (_, index) => asks({ at: s + index * 100, token: jwt(index) })),
      ...Array.from({ length: 8 }, (_, index) =>
        live(jwt(index), 2 * s + index * 100, 60 * s, 'device', 1000),
      ),
    ),
  ],
  [
    'D9',
    'many calls long after it came back',
    'pass: closed with 1012; it reconnected after 1.0 s (X1 X2)',
    seenAs(
      ...restarts({ from: -60 * s, to: 0, back: s }),
      live(jwt('t1'), 2 * s),
      ...Array.from({ length: 8 }, (_, index) => asks({ at: 3_600 * s + index * 100, token: jwt(index) })),
    ),
  ],

  ['D13', 'a clean close', 'pass: it closed with 1000 (X1)', ended(1000)],
  ['D13', 'a close because it goes away', 'warn: it closed with 1001, expected 1000 (X1)', ended(1001)],
  ...[1002, 1003, 1007, 1008, 1009, 1010, 1011].map(
    (code): Case => [
      'D13',
      `a close with ${code}`,
      `warn: it ended the stream with ${code} instead of a normal close (1000) (X1)`,
      ended(code),
    ],
  ),
  ['D13', 'a close without a code', 'fail: it closed without a code, expected 1000 (X1)', ended(1005)],
  ['D13', 'a close with a code of its own', 'fail: it closed with 4000, expected 1000 (X1)', ended(4000)],
  ['D13', 'a cut', 'fail: it cut the connection without a close frame (X1)', ended(1006)],
  [
    'D13',
    'a cut after a ping without an answer',
    'pass: it cut a connection that did not answer its ping (X1)',
    ended(1006, beats(5, 'device', 'ping')),
  ],
  [
    'D13',
    'a cut after two pings, of which one had an answer',
    'pass: it cut a connection that did not answer its ping (X1)',
    ended(1006, beats(5, 'device', 'ping'), beats(6, 'service', 'pong'), beats(7, 'device', 'ping')),
  ],
  [
    'D13',
    'a cut after a ping with an answer',
    'fail: it cut the connection without a close frame (X1)',
    ended(1006, beats(5, 'device', 'ping'), beats(6, 'service', 'pong')),
  ],
  [
    'D13',
    'a cut after a ping with an answer, and audio',
    'fail: it cut the connection without a close frame (X1)',
    ended(1006, beats(5, 'device', 'ping'), beats(6, 'service', 'pong'), ...speaks(7)),
  ],
  [
    'D13',
    'a cut after a ping with an answer in the same moment',
    'fail: it cut the connection without a close frame (X1)',
    ended(1006, beats(5, 'device', 'ping'), beats(5, 'service', 'pong')),
  ],
  [
    'D13',
    'a cut after a ping of the service',
    'fail: it cut the connection without a close frame (X1)',
    ended(1006, beats(5, 'service', 'ping')),
  ],
  [
    'D13',
    'a cut after a ping and a pong of its own',
    'pass: it cut a connection that did not answer its ping (X1)',
    ended(1006, beats(5, 'device', 'ping'), beats(6, 'device', 'pong')),
  ],
  [
    'D13',
    'a strange code after a ping without an answer',
    'fail: it closed with 4000, expected 1000 (X1)',
    ended(4000, beats(5, 'device', 'ping')),
  ],
  [
    'D13',
    'a cut before the confirmation',
    undefined,
    seenAs(connects({ messages: [presents(one)], end: { at: 9, by: 'device', code: 1006 } })),
  ],
  ['D13', 'a close of the service', undefined, seenAs(live(one, 1, 9))],
  [
    'D13',
    'eleven at once',
    'fail: 11 connections were open at once (X1 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11)',
    seenAs(...open(11)),
  ],
  ['D13', 'ten at once', undefined, seenAs(...open(10))],
  [
    'D13',
    'ten at once, and one without a confirmation',
    undefined,
    seenAs(...open(10), connects({ at: 20, messages: [presents(one, 20)] })),
  ],
  [
    'D13',
    'ten at once, and one when the first has ended',
    undefined,
    seenAs(live(one, 0, 20), ...open(9), live(two, 20)),
  ],
  [
    'D13',
    'eleven one after the other',
    undefined,
    seenAs(...Array.from({ length: 11 }, (_, index) => live(jwt(`t${index}`), index * 10, index * 10 + 9))),
  ],
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(deviceRules, id, seen)).toBe(found);
});

describe('each rule', () => {
  test('has a case that passes and one that does not', () => {
    const with_ = (verdict: string) =>
      new Set(cases.filter(([, , found]) => found?.startsWith(`${verdict}: `)).map(([id]) => id));
    const ids = deviceRules.map(({ id }) => id);
    expect(ids.filter((id) => !with_('pass').has(id))).toEqual([]);
    expect(ids.filter((id) => !with_('fail').has(id))).toEqual([]);
  });

  test.each(deviceRules)('$id says nothing if there is nothing to see', ({ judge }) => {
    expect(judge([])).toBeUndefined();
  });
});

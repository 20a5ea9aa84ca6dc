import { expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import type { Seen } from '../../src/rules/rule.ts';
import { streamRules } from '../../src/rules/stream.ts';
import type { Breakdown, HttpAnswer, StreamExchange, WireMessage } from '../../src/wire/exchange.ts';
import { confirms, connects, presents, seenAs, speaks } from '../helpers/device-exchanges.ts';
import { answered, finding, replies, serviceToken, tells } from '../helpers/service-exchanges.ts';

const token = serviceToken();
const byService = (at: number, code = 4401) => ({ at, by: 'service', code }) as const;
/** An end because of what the service sent. */
const brokenOff = (code: number, why: Breakdown['code']) =>
  ({ at: 9, by: 'device', code, breakdown: { by: 'service', code: why, message: 'bad frame' } }) as const;
type End = NonNullable<Parameters<typeof connects>[0]>['end'];

/** A token granted at 0, as X1, and the stream of these messages, as X2. */
function talk(messages: readonly WireMessage[], { end, path }: { end?: End; path?: string } = {}): Seen[] {
  const granted = answered({ token, ...(path === undefined ? {} : { path }) });
  return seenAs(granted, connects({ at: 1, messages, ...(end === undefined ? {} : { end }) }));
}

/** A confirmed stream with more messages. */
const live = (...more: readonly WireMessage[]) => talk([presents(token, 1), confirms(2), ...more]);

function upgraded(
  answer: Partial<HttpAnswer> | undefined,
  more: Partial<StreamExchange> & { breakdown?: Breakdown } = {},
): StreamExchange {
  const { breakdown, ...rest } = more;
  const stream = connects({ at: 0 });
  const told = answer && { status: 101, headers: [], body: '', firstByteMs: 0, ...answer };
  return { ...stream, ...rest, upgrade: { ...stream.upgrade, answer: told, breakdown } };
}

function atPath({ upgrade, ...stream }: StreamExchange, url: string): StreamExchange {
  return { ...stream, upgrade: { ...upgrade, request: { ...upgrade.request, url } } };
}

const text = (value: string, at: number): WireMessage => ({
  ...{ at, from: 'device', opcode: 'text', text: value },
  bytes: value.length,
});
const ping = (at: number, from: 'device' | 'service'): WireMessage => ({
  at,
  from,
  opcode: 'ping',
  bytes: 0,
});
const pong = (at: number): WireMessage => ({ at, from: 'device', opcode: 'pong', bytes: 0 });
/** A message for each of these frames of a reply, written by `write`. */
const asTexts = (frames: number, write: (frame: Int16Array) => unknown, at = 9) =>
  Array.from({ length: frames }, (_, index) => {
    const frame = Int16Array.from({ length: 160 }, (_one, sample) => (index * 160 + sample) % 9_973);
    return tells(JSON.stringify({ type: 'audio', data: write(frame) }), at);
  });
const asBase64 = (frame: Int16Array) => Buffer.from(frame.buffer).toString('base64');
const other = serviceToken(3);

/** A token that is presented at once, and accepted, on a stream that stays open, or refused. */
function opens(
  at: number,
  { device = 'd1', accepted = true, token = serviceToken(at, { sub: device }) } = {},
): Seen[] {
  const messages = [presents(token, at), ...(accepted ? [confirms(at + 1)] : [])];
  return [
    { id: `E${at}`, exchange: answered({ at, device, token }) },
    { id: `S${at}`, exchange: connects({ at, messages, ...(accepted ? {} : { end: byService(at + 2) }) }) },
  ];
}
const withoutJti = serviceToken(0, { jti: undefined });
/** The same token with another signature. */
const signedAnew = (signed: string) => signed.replace(/[^.]+$/, 'YW5vdGhlcg');

const confirmation = '"{\\"type\\":\\"service_voice_connected\\"}"';
/** Streams that should be refused. */
const shouldRefuse = (seen: readonly Seen[]) =>
  seen.map((one) => ({ ...one, provoked: one.exchange.kind === 'stream' }));

type Case = [id: string, what: string, found: string | undefined, seen: readonly Seen[]];

const cases: Case[] = [
  [
    'R33',
    'one of two upgrades answered with 101',
    'pass: the upgrade is answered with 101 (X2)',
    seenAs(upgraded({ status: 500 }), upgraded({})),
  ],
  [
    'R33',
    'an upgrade answered with 101 that opens no WebSocket',
    'fail: answered with 101, but no WebSocket opens: Invalid Sec-WebSocket-Accept header (X1)',
    seenAs(
      upgraded(
        {},
        { breakdown: { code: 'handshake-failed', message: 'Invalid Sec-WebSocket-Accept header' } },
      ),
    ),
  ],
  [
    'R33',
    'upgrades answered with 404',
    'fail: the upgrade is answered with 404 (X1 X2)',
    seenAs(upgraded({ status: 404 }), upgraded({ status: 404 })),
  ],
  ...[300, 399, 401, 403, 408, 429, 500, 502, 503, 504].map(
    (status): Case => [
      'R33',
      `an upgrade answered with ${status}`,
      `unknown: the upgrade is answered with ${status}: it may require more than the specification shows (X1)`,
      seenAs(upgraded({ status })),
    ],
  ),
  ...[200, 299, 400].map(
    (status): Case => [
      'R33',
      `an upgrade answered with ${status}`,
      `fail: the upgrade is answered with ${status} (X1)`,
      seenAs(upgraded({ status })),
    ],
  ),
  [
    'R33',
    'a page',
    'unknown: the upgrade is answered with 404 with a web page, not by the service (X1)',
    seenAs(upgraded({ status: 404, body: ' <html>' })),
  ],
  [
    'R33',
    'an upgrade that should be refused',
    undefined,
    seenAs(upgraded({ status: 404 })).map((one) => ({ ...one, provoked: true })),
  ],
  [
    'R33',
    'another path, which the device asks for',
    undefined,
    seenAs(atPath(upgraded({ status: 404 }), '/voice-streams?x=/voice-stream')),
  ],
  ['R33', 'no answer', undefined, seenAs(upgraded(undefined))],
  ['R33', 'no upgrade', undefined, seenAs(answered())],

  ['R34', 'silence until the JWT', 'pass: it waits for the JWT (X2)', live()],
  [
    'R34',
    'a text before the JWT',
    'fail: "hello" arrived before the JWT (X2)',
    talk([tells('hello', 1), presents(token, 2), confirms(3)]),
  ],
  [
    'R34',
    'audio before the JWT',
    'fail: a binary message of 640 bytes arrived before the JWT (X2)',
    talk([replies(1), presents(token, 2), confirms(3)]),
  ],
  [
    'R34',
    'a ping before the JWT',
    'pass: it waits for the JWT (X2)',
    talk([ping(1, 'service'), presents(token, 2), confirms(3)]),
  ],
  [
    'R34',
    'audio, and no JWT at all',
    'fail: a binary message of 640 bytes arrived, although no JWT was presented (X1)',
    seenAs(connects({ messages: [ping(1, 'device'), replies(2)] })),
  ],
  [
    'R34',
    'audio after a ping that the device answered, and no JWT at all',
    'fail: a binary message of 640 bytes arrived, although no JWT was presented (X1)',
    seenAs(connects({ messages: [ping(1, 'service'), pong(1), replies(2)] })),
  ],
  [
    'R34',
    'audio, and another text of the device',
    undefined,
    seenAs(connects({ messages: [text('x', 1), replies(2)] })),
  ],
  ['R34', 'text, and no JWT at all', undefined, seenAs(connects({ messages: [tells('x', 2)] }))],
  [
    'R34',
    'a confirmation, and no JWT at all',
    `fail: ${confirmation} arrived, although no JWT was presented (X1)`,
    seenAs(connects({ messages: [ping(1, 'device'), confirms(2)] })),
  ],
  [
    'R34',
    'a confirmation after audio, and then a JWT',
    `fail: ${confirmation} arrived, although no JWT was presented (X2)`,
    talk([...speaks(1), confirms(2), presents(token, 3)]),
  ],
  [
    'R34',
    'a confirmation of a text',
    'fail: text that is no JWT was confirmed (X1)',
    seenAs(connects({ messages: [text('not-a-jwt', 1), confirms(2)] })),
  ],
  [
    'R34',
    'a confirmation of a presented text that is no JWT',
    'fail: text that is no JWT was confirmed (X2)',
    talk([presents('not-a-jwt', 1), confirms(2)]),
  ],
  [
    'R34',
    'a confirmation of a text that is soon refused',
    'warn: text that is no JWT was confirmed, and only then refused: closed with 4401 (X1)',
    seenAs(connects({ messages: [text('not-a-jwt', 1), confirms(2)], end: byService(1_001) })),
  ],
  [
    'R34',
    'a confirmation of a text on a stream that ends later',
    'fail: text that is no JWT was confirmed (X1)',
    seenAs(connects({ messages: [text('not-a-jwt', 1), confirms(2)], end: byService(1_002) })),
  ],
  [
    'R34',
    'a confirmation of a JWT that was altered on purpose',
    'fail: a JWT that was not granted was confirmed (X2)',
    shouldRefuse(talk([presents(signedAnew(token), 1), confirms(2)])),
  ],
  ['R34', 'a confirmation of a JWT of elsewhere', undefined, talk([presents(other, 1), confirms(2)])],
  [
    'R34',
    'a confirmation of an opaque token that was granted',
    undefined,
    shouldRefuse(
      seenAs(answered({ token: 'opaque' }), connects({ messages: [presents('opaque', 1), confirms(2)] })),
    ),
  ],
  [
    'R34',
    'a confirmation of a token in binary',
    undefined,
    talk([presents(token, 1, 'binary'), confirms(2)]),
  ],

  ['R35', 'the confirmation', 'pass: the first message is service_voice_connected (X2)', live()],
  [
    'R35',
    'a status before it',
    'fail: the first message is "{\\"type\\":\\"status\\"}" (X2)',
    talk([presents(token, 1), tells('{"type":"status"}', 2), confirms(3)]),
  ],
  [
    'R35',
    'audio before it',
    'fail: the first message is a binary message of 640 bytes (X2)',
    talk([presents(token, 1), replies(2), confirms(3)]),
  ],
  [
    'R35',
    'a message that came before the JWT, which R34 is about',
    'pass: the first message is service_voice_connected (X2)',
    talk([tells('hello', 1), presents(token, 2), confirms(3)]),
  ],
  [
    'R35',
    'a close',
    'fail: the JWT was not accepted: closed with 4401 (X2)',
    talk([presents(token, 1)], { end: byService(5) }),
  ],
  [
    'R35',
    'a cut',
    'fail: the JWT was not accepted: the connection was cut (X2)',
    talk([presents(token, 1)], { end: byService(5, 1006) }),
  ],
  [
    'R35',
    'a close after audio that came too early',
    'unknown: the device sent more before it was confirmed (X2)',
    talk([presents(token, 1), ...speaks(2)], { end: byService(60) }),
  ],
  ['R35', 'nothing', 'unknown: no confirmation arrived (X2)', talk([presents(token, 1)])],
  [
    'R35',
    'nothing, until the device leaves',
    'unknown: no confirmation arrived (X2)',
    talk([presents(token, 1)], { end: { at: 9, by: 'device' } }),
  ],
  ['R35', 'a token in binary', undefined, talk([presents(token, 1, 'binary'), confirms(2)])],
  ['R35', 'a token after a text', undefined, talk([text('x', 1), presents(token, 2), confirms(3)])],
  [
    'R35',
    'a token after a ping',
    'pass: the first message is service_voice_connected (X2)',
    talk([ping(1, 'device'), presents(token, 2), confirms(3)]),
  ],
  [
    'R35',
    'a token of elsewhere',
    undefined,
    seenAs(connects({ messages: [presents(token, 1), confirms(2)] })),
  ],
  [
    'R35',
    'a token shown again',
    'pass: the first message is service_voice_connected (X2)',
    [
      ...live(),
      { id: 'X3', exchange: connects({ at: 9, messages: [presents(token, 9)], end: byService(10) }) },
    ],
  ],
  [
    'R35',
    'a token shown again, seen in another order',
    'pass: the first message is service_voice_connected (X2)',
    [
      { id: 'X3', exchange: connects({ at: 9, messages: [presents(token, 9)], end: byService(10) }) },
      ...live(),
    ],
  ],
  ['R35', 'a token of half a minute', undefined, talk([presents(token, 30_000)], { end: byService(30_001) })],
  [
    'R35',
    'a token of almost half a minute',
    'fail: the JWT was not accepted: closed with 4401 (X2)',
    talk([presents(token, 29_999)], { end: byService(30_001) }),
  ],
  [
    'R35',
    'a token refused on purpose',
    undefined,
    talk([presents(token, 1)], { end: byService(5) }).map((one) => ({ ...one, provoked: one.id === 'X2' })),
  ],
  [
    'R35',
    'only a token of the v1 path',
    'fail: the JWT was not accepted: closed with 4401 (X2)',
    talk([presents(token, 1)], { end: byService(5), path: tokenPath('v1') }),
  ],
  [
    'R35',
    'a token of the v1 path beside another',
    'pass: the first message is service_voice_connected (X2)',
    [
      ...live(),
      { id: 'Y1', exchange: answered({ at: 3, token: other, path: tokenPath('v1') }) },
      { id: 'Y2', exchange: connects({ at: 4, messages: [presents(other, 4)], end: byService(5) }) },
    ],
  ],
  [
    'R35',
    'an end before the JWT',
    'fail: the connection ended before the JWT: closed with 1008 (X1)',
    seenAs(connects({ end: byService(999, 1008) })),
  ],
  [
    'R35',
    'a break before the JWT',
    'fail: the connection ended before the JWT: reset by peer (X1)',
    seenAs(
      upgraded({}, {
        end: {
          ...{ at: 5, by: 'service', code: 1006, reason: '' },
          breakdown: { code: 'stream-broken', message: 'reset by peer' },
        },
      } as Partial<StreamExchange>),
    ),
  ],
  ['R35', 'an end a second later', undefined, seenAs(connects({ end: byService(1_000) }))],
  ['R35', 'an end by the device', undefined, seenAs(connects({ end: { at: 5, by: 'device' } }))],
  [
    'R35',
    'an end after another text',
    undefined,
    seenAs(connects({ messages: [text('x', 1)], end: byService(5) })),
  ],
  [
    'R35',
    'an end before the JWT and after a ping that got its pong',
    'fail: the connection ended before the JWT: closed with 1008 (X1)',
    seenAs(connects({ messages: [ping(1, 'service'), pong(1)], end: byService(300, 1008) })),
  ],
  ['R35', 'no end', undefined, seenAs(connects())],
  [
    'R35',
    'an end soon after the upgrade, however late that is, and after a message',
    'fail: the connection ended before the JWT: closed with 1008 (X1)',
    seenAs(connects({ at: 5_000, messages: [tells('hello', 5_001)], end: byService(5_999, 1008) })),
  ],
  [
    'R35',
    'three that were refused',
    'fail: the JWT was not accepted: closed with 4401 (S10 S20 S30)',
    [10, 20, 30].flatMap((at) => opens(at, { accepted: false })),
  ],
  [
    'R35',
    'one that was refused beside another',
    'fail: the JWT was not accepted: closed with 4401 (S20)',
    [...opens(10), ...opens(20, { accepted: false })],
  ],
  [
    'R35',
    'one that was refused beside two others, perhaps for their number',
    'pass: the first message is service_voice_connected (S10 S20)',
    [...opens(10), ...opens(20), ...opens(30, { accepted: false })],
  ],
  [
    'R35',
    'one that was refused beside nine of another device',
    'fail: the JWT was not accepted: closed with 4401 (S99)',
    [
      ...Array.from({ length: 9 }, (_, index) => opens(index, { device: 'd2' })).flat(),
      ...opens(99, { accepted: false }),
    ],
  ],
  [
    'R35',
    'one that was refused beside ten of another device, perhaps for their number',
    'pass: the first message is service_voice_connected (S0 S1)',
    [
      ...Array.from({ length: 10 }, (_, index) => opens(index, { device: 'd2' })).flat(),
      ...opens(99, { accepted: false }),
    ],
  ],
  [
    'R35',
    'a token without jti that says the same as one before',
    'pass: the first message is service_voice_connected (S10)',
    [...opens(10, { token: withoutJti }), ...opens(20, { token: signedAnew(withoutJti), accepted: false })],
  ],
  [
    'R35',
    'a token with the jti of one before, and another signature',
    'fail: the JWT was not accepted: closed with 4401 (S20)',
    [...opens(10, { token }), ...opens(20, { token: signedAnew(token), accepted: false })],
  ],
  [
    'R35',
    'two tokens that are no JWT',
    'fail: the JWT was not accepted: closed with 4401 (S20)',
    [...opens(10, { token: 'opaque-1' }), ...opens(20, { token: 'opaque-2', accepted: false })],
  ],

  [
    'R36',
    'accepted',
    'pass: accepted (X2)',
    talk([presents(token, 1), confirms(2)], { path: tokenPath('v1') }),
  ],
  [
    'R36',
    'accepted, of a service below a path',
    'pass: accepted (X2)',
    talk([presents(token, 1), confirms(2)], { path: `/voice${tokenPath('v1')}` }),
  ],
  ['R36', 'none', undefined, live()],
  [
    'R36',
    'refused, and another not answered',
    'unknown: no token is accepted: closed with 4401 (Y2)',
    [
      ...talk([presents(token, 1)]),
      { id: 'Y1', exchange: answered({ at: 3, token: other, path: tokenPath('v1') }) },
      { id: 'Y2', exchange: connects({ at: 4, messages: [presents(other, 4)], end: byService(5) }) },
    ],
  ],
  [
    'R36',
    'refused, as are all',
    'unknown: no token is accepted: closed with 4401 (X2)',
    talk([presents(token, 1)], { end: byService(5), path: tokenPath('v1') }),
  ],
  [
    'R36',
    'answered otherwise, as are all',
    'unknown: no token is accepted: the first message is "{}" (X2)',
    talk([presents(token, 1), tells('{}', 2)], { path: tokenPath('v1') }),
  ],
  [
    'R36',
    'refused, and another accepted',
    'fail: not accepted: closed with 4401 (Y2 X2)',
    [
      ...live(),
      { id: 'Y1', exchange: answered({ at: 3, token: other, path: tokenPath('v1') }) },
      { id: 'Y2', exchange: connects({ at: 4, messages: [presents(other, 4)], end: byService(5) }) },
    ],
  ],
  [
    'R36',
    'answered otherwise on a stream that stays open, and another accepted',
    'fail: not accepted: the first message is "{}" (Y2 X2)',
    [
      ...live(),
      { id: 'Y1', exchange: answered({ at: 3, token: other, path: tokenPath('v1') }) },
      { id: 'Y2', exchange: connects({ at: 4, messages: [presents(other, 4), tells('{}', 5)] }) },
    ],
  ],
  [
    'R36',
    'not answered, and another accepted',
    'unknown: no confirmation arrived (Y2)',
    [
      ...live(),
      { id: 'Y1', exchange: answered({ at: 3, token: other, path: tokenPath('v1') }) },
      { id: 'Y2', exchange: connects({ at: 4, messages: [presents(other, 4)] }) },
    ],
  ],

  ['R37', 'both ways', 'pass: audio is sent and received (X2)', live(...speaks(3), replies(4))],
  [
    'R37',
    'one way',
    'unknown: no audio was received; the specification promises none (X2)',
    live(...speaks(3)),
  ],
  ['R37', 'nothing sent', undefined, live(replies(4))],
  [
    'R37',
    'a close long after audio was accepted',
    'unknown: no audio was received: closed with 1008 (X2)',
    talk([presents(token, 1), confirms(2), ...speaks(3)], { end: byService(3_500, 1008) }),
  ],
  ['R37', 'no confirmation', undefined, talk([presents(token, 1), ...speaks(3)])],
  ['R37', 'half a sample sent', undefined, live(...speaks(3, { frame: () => Buffer.alloc(639) }))],
  [
    'R37',
    'half a sample sent among whole ones',
    undefined,
    live(...speaks(3), ...speaks(4, { frame: () => Buffer.alloc(639) }), replies(5)),
  ],
  ['R37', 'a text sent too', undefined, live(...speaks(3), text('x', 4), replies(5))],
  [
    'R37',
    'audio before the confirmation',
    'fail: audio arrived before the confirmation (X2)',
    talk([presents(token, 1), replies(2), confirms(3)]),
  ],
  [
    'R37',
    'audio before the JWT, which R34 is about',
    'unknown: no audio was received; the specification promises none (X2)',
    talk([replies(1), presents(token, 2), confirms(3), ...speaks(4)]),
  ],
  ...Object.entries({
    'in base64, 10 ms a message': asTexts(25, asBase64),
    'as numbers': asTexts(25, (frame) => [...frame]),
    'as fractions': asTexts(25, (frame) => [...frame].map((sample) => sample / 32_768)),
    'of a tone, whose messages repeat': Array.from({ length: 6 }, () => asTexts(5, asBase64)).flat(),
    'in one message': [tells(JSON.stringify({ audio: asBase64(new Int16Array(4_000)) }), 9)],
  }).map(
    ([how, texts]): Case => [
      'R37',
      `audio as text, ${how}`,
      'fail: the audio arrives as text (X2)',
      live(...speaks(3), ...texts),
    ],
  ),
  ...Object.entries({
    'that holds less than any audio': asTexts(24, asBase64),
    'that repeats a long token': asTexts(60, () => 'A'.repeat(1_000)),
    'that came before the speech': asTexts(60, asBase64, 2),
    'with a few levels': asTexts(400, (frame) => [...frame.subarray(0, 16)]),
  }).map(
    ([what, texts]): Case => [
      'R37',
      `text ${what}`,
      'unknown: no audio was received; the specification promises none (X2)',
      live(...speaks(3), ...texts),
    ],
  ),
  ...[1002, 1003, 1007, 1008].map(
    (code): Case => [
      'R37',
      `a close with ${code}`,
      `fail: audio is not accepted: closed with ${code} (X2)`,
      talk([presents(token, 1), confirms(2), ...speaks(3)], { end: byService(9, code) }),
    ],
  ),
  ...[1002, 1007].map(
    (code): Case => [
      'R37',
      `a frame that ends the stream with ${code}`,
      'fail: the service violated the WebSocket protocol: bad frame (X2)',
      talk([presents(token, 1), confirms(2), ...speaks(3)], { end: brokenOff(code, 'protocol-violation') }),
    ],
  ),
  ...(
    [
      [1009, 'protocol-violation'],
      [1006, 'stream-broken'],
    ] as const
  ).map(
    ([code, why]): Case => [
      'R37',
      `an end with ${code} that is no violation`,
      'unknown: no audio was received: bad frame (X2)',
      talk([presents(token, 1), confirms(2), ...speaks(3)], { end: brokenOff(code, why) }),
    ],
  ),
  [
    'R37',
    'a close with 1011',
    'unknown: no audio was received: closed with 1011 (X2)',
    talk([presents(token, 1), confirms(2), ...speaks(3)], { end: byService(9, 1011) }),
  ],
  [
    'R37',
    'a close of the device',
    'unknown: no audio was received; the specification promises none (X2)',
    talk([presents(token, 1), confirms(2), ...speaks(3)], { end: { at: 9, by: 'device', code: 1003 } }),
  ],

  ['R39', 'JSON', 'pass: each text message is JSON (X2)', live(tells('{"type":"x"}', 3))],
  [
    'R39',
    'audio, and then another text',
    'fail: a text message is not JSON: "oh" (X2)',
    live(replies(3), tells('oh', 4)),
  ],
  ['R39', 'JSON beside audio', 'pass: each text message is JSON (X2)', live(replies(3))],
  ['R39', 'another text', 'fail: a text message is not JSON: "oh" (X2)', live(tells('oh', 3))],
  ['R39', 'no text', undefined, seenAs(connects({ messages: [replies(1), text('x', 2)] }))],
];

test.each(cases)('%s of %s: %s', (id, _what, found, seen) => {
  expect(finding(streamRules, id, seen)).toBe(found);
});

test('the reason of a close is reported, and a breakdown of the upgrade', () => {
  const closed = connects({ at: 1, messages: [presents(token, 1)], end: byService(5) });
  const told = { ...closed, end: { ...closed.end!, reason: 'no "voice"' } };
  const broken = upgraded(undefined, {
    messages: [presents(token, 1)],
    breakdown: { code: 'tls-failed', message: 'the certificate has expired' },
  });
  expect(finding(streamRules, 'R35', seenAs(answered({ token }), told))).toBe(
    'fail: the JWT was not accepted: closed with 4401 "no \\"voice\\"" (X2)',
  );
  expect(finding(streamRules, 'R35', seenAs(answered({ token }), broken))).toBe(
    'unknown: the certificate has expired (X2)',
  );
});

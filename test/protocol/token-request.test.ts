import { expect, test } from 'vitest';
import { parseTokenRequest } from '../../src/protocol/token-request.ts';

const bytes = (text: string) => Buffer.from(text);
const good = { apiKey: 'key', deviceId: 'device-1' };
const withField = (json: string) => bytes(`{"apiKey":"key","deviceId":"device-1","more":${json}}`);
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

test.each([
  ['the two fields', JSON.stringify(good)],
  ['white space around', ` \n${JSON.stringify(good)}\r\n\t `],
  ['further fields of any kind', JSON.stringify({ ...good, more: [1, null, { deep: true }] })],
  ['31 arrays in one another', `{"apiKey":"key","deviceId":"device-1","more":${nested(31, '[', ']')}}`],
])('a body with %s is a token request', (_name, text) => {
  expect(parseTokenRequest(bytes(text))).toEqual({ ok: true, request: good });
});

test.each(['a', ' a b ', 'ключ', '🎙️', '\u200d', "' OR 1=1 --", '../..', 'x'.repeat(256)])(
  '%j is a key and a device id like any other',
  (text) => {
    const request = { apiKey: text, deviceId: text };
    expect(parseTokenRequest(bytes(JSON.stringify(request)))).toEqual({ ok: true, request });
  },
);

test.each([
  ['nothing', bytes('')],
  ['white space', bytes(' \n ')],
  ['half of the JSON', bytes(JSON.stringify(good).slice(0, -3))],
  ['text after the JSON', bytes(`${JSON.stringify(good)} x`)],
  ['two JSON objects', bytes(JSON.stringify(good).repeat(2))],
  ['a byte-order mark', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes(JSON.stringify(good))])],
  ['UTF-16', Buffer.from(JSON.stringify(good), 'utf16le')],
  [
    'bytes that are not UTF-8',
    Buffer.concat([bytes('{"apiKey":"'), Buffer.of(0xff, 0xfe), bytes('","deviceId":"d"}')]),
  ],
  [
    'an overlong encoding',
    Buffer.concat([bytes('{"apiKey":"'), Buffer.of(0xc0, 0xaf), bytes('","deviceId":"d"}')]),
  ],
  ['single quotes', bytes("{'apiKey':'key','deviceId':'device-1'}")],
  ['a comment', bytes('{"apiKey":"key","deviceId":"device-1"/* */}')],
  ['a trailing comma', bytes('{"apiKey":"key","deviceId":"device-1",}')],
  ['a raw control character', bytes('{"apiKey":"k\ney","deviceId":"device-1"}')],
  ['a form', bytes('apiKey=key&deviceId=device-1')],
  ['an array', bytes('[]')],
  ['an array of requests', bytes(JSON.stringify([good]))],
  ['a string', bytes('"apiKey"')],
  ['a number', bytes('42')],
  ['true', bytes('true')],
  ['null', bytes('null')],
  ['8,000 arrays in one another', bytes(nested(8_000, '[', ']'))],
  ['a field of 8,000 arrays', withField(nested(8_000, '[', ']'))],
  ['a field of 32 arrays', withField(nested(32, '[', ']'))],
  ['a field of 2,500 objects', withField(`${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`)],
  ['the key __proto__', bytes('{"apiKey":"key","deviceId":"device-1","__proto__":{"admin":true}}')],
  ['the key constructor', bytes('{"apiKey":"key","deviceId":"device-1","constructor":{}}')],
  ['the key prototype in a field', withField('{"prototype":1}')],
  ['the key __proto__ in an array in a field', withField('[[{"__proto__":{"admin":true}}]]')],
  ['the key constructor, escaped', withField('{"\\u0063onstructor":1}')],
])('a body of %s is refused, and no field is blamed', (_name, body) => {
  const parsed = parseTokenRequest(body);
  expect(parsed).toMatchObject({ ok: false, problem: { message: expect.any(String) } });
  expect(parsed).not.toHaveProperty('problem.details');
});

const badValues: [name: string, json: string | undefined, message: RegExp][] = [
  ['missing', undefined, /^Missing required field: /],
  ['null', 'null', /^Missing required field: /],
  ['a number', '1', /must be a string/],
  ['false', 'false', /must be a string/],
  ['an array', '["key"]', /must be a string/],
  ['an object', '{"toString":"x"}', /must be a string/],
  ['empty', '""', /must not be empty/],
  ['spaces', '"   "', /must not be empty/],
  ['white space of every kind', '"\\t\\n\\r\\u00a0\\u2003\\ufeff"', /must not be empty/],
  ['with NUL', '"a\\u0000b"', /control characters/],
  ['with ESC', '"a\\u001b[2Jb"', /control characters/],
  ['with a line break', '"a\\r\\nX-Injected: 1"', /control characters/],
  ['with DEL', '"a\\u007f"', /control characters/],
  ['with a C1 control', '"a\\u009b"', /control characters/],
  ['with half of a surrogate pair', '"a\\ud83d"', /not well-formed/],
  ['with surrogates the wrong way round', '"\\udc00\\ud800"', /not well-formed/],
  ['257 characters long', JSON.stringify('x'.repeat(257)), /longer than 256/],
];
const fieldCases = badValues.flatMap(([name, json, message]) =>
  (['apiKey', 'deviceId'] as const).map((field) => ({ field, name, json, message })),
);

const known = 'device-1';

test.each([
  ['no JSON', 'apiKey', { case: 'invalidJson', message: 'Request body is not valid JSON' }],
  ['a list', '[]', { case: 'notAnObject', message: 'Request body must be a JSON object' }],
  [
    'a forbidden key',
    `{"apiKey":"key","deviceId":"${known}","constructor":1}`,
    {
      case: 'badNesting',
      message: 'Request body contains a forbidden key or is nested too deeply',
      deviceId: known,
    },
  ],
  [
    'a key of another type',
    `{"apiKey":7,"deviceId":"${known}"}`,
    {
      case: 'wrongType',
      message: 'Field apiKey must be a string',
      details: { field: 'apiKey', expected: 'string' },
      deviceId: known,
    },
  ],
  [
    'a device of another type',
    '{"apiKey":"key","deviceId":7}',
    {
      case: 'wrongType',
      message: 'Field deviceId must be a string',
      details: { field: 'deviceId', expected: 'string' },
    },
  ],
])(
  'the problem of %s is told with its case, and with the device if that is known',
  (_what, body, problem) => {
    expect(parseTokenRequest(bytes(body))).toStrictEqual({ ok: false, problem });
  },
);

test.each([
  ['missing', undefined, 'missingApiKey'],
  ['empty', '""', 'emptyApiKey'],
  ['too long', JSON.stringify('x'.repeat(257)), 'tooLong'],
  ['with a line break', '"a\\nb"', 'badCharacters'],
  ['with half of a surrogate pair', '"a\\ud83d"', 'badCharacters'],
])('a key that is %s has a case of its own', (_what, json, expected) => {
  const key = json === undefined ? '' : `"apiKey":${json},`;
  expect(parseTokenRequest(bytes(`{${key}"deviceId":"d"}`))).toHaveProperty('problem.case', expected);
});

test.each(fieldCases)('$field that is $name is blamed by its name', ({ field, json, message }) => {
  const fields = Object.entries(good).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const kept = fields.map(([name, value]) => [name, name === field ? json : value] as const);
  const body = kept.flatMap(([name, value]) => (value === undefined ? [] : [`"${name}":${value}`]));
  const parsed = parseTokenRequest(bytes(`{${body.join(',')}}`));
  expect(parsed).toMatchObject({
    ok: false,
    problem: { message: expect.stringMatching(message), details: { field, expected: 'string' } },
  });
  expect(parsed).toHaveProperty('problem.message', expect.stringContaining(field));
});

test('of two missing fields the first is named', () => {
  expect(parseTokenRequest(bytes('{}'))).toHaveProperty('problem.details.field', 'apiKey');
});

test('fields are not found on a prototype', () => {
  const body = bytes('{"__proto__":{"apiKey":"key","deviceId":"device-1"}}');
  expect(parseTokenRequest(body)).toHaveProperty('problem.details.field', 'apiKey');
});

test('of a field that is given twice the last one counts', () => {
  const body = bytes('{"apiKey":"first","apiKey":"last","deviceId":"device-1"}');
  expect(parseTokenRequest(body)).toHaveProperty('request.apiKey', 'last');
});

test('no message repeats what was sent', () => {
  const canary = 'canary-1234';
  const bodies = [
    `${canary}`,
    `{"apiKey":"${canary}","deviceId":1}`,
    `{"apiKey":"${canary}\\u0000","deviceId":"d"}`,
    JSON.stringify({ apiKey: canary.repeat(30), deviceId: 'd' }),
  ];
  for (const body of bodies) expect(JSON.stringify(parseTokenRequest(bytes(body)))).not.toContain(canary);
});

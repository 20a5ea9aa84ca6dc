import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { createRedactor } from '../../src/kernel/redact.ts';
import { createSecretIndex } from '../../src/kernel/secret-index.ts';
import { unescapeText } from '../../src/kernel/spellings.ts';
import { concealText } from '../../src/wire/conceal.ts';
import { spellings } from '../helpers/spellings.ts';

const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkMSJ9.c2lnbmF0dXJlLWNhbmFyeQ';

test('a secret is removed from texts and names at any depth, and the line is still JSON', () => {
  const redactor = createRedactor();
  redactor.conceal('key-"canary"');
  redactor.conceal(token);
  const said = JSON.stringify({ yourKey: 'key-"canary"', [token]: 1 });
  const line = redactor.line({ text: said, body: JSON.parse(said), list: [[`Bearer ${token}`]], n: 1 });
  expect(line).not.toMatch(/canary|c2lnbmF0dXJl/);
  expect(JSON.parse(line)).toEqual({
    text: '{"yourKey":"[redacted]","[redacted]":1}',
    body: { yourKey: '[redacted]', '[redacted]': 1 },
    list: [['Bearer [redacted]']],
    n: 1,
  });
});

test('the signature of a token is a secret of its own', () => {
  const redactor = createRedactor();
  redactor.conceal(token);
  expect(redactor.line({ text: 'c2lnbmF0dXJlLWNhbmFyeQ' })).toBe('{"text":"[redacted]"}\n');
});

test('numbers and short texts are not secrets', () => {
  const redactor = createRedactor();
  redactor.conceal('12345678');
  redactor.conceal('type');
  expect(JSON.parse(redactor.line({ type: 'a', n: 12345678, text: '12345678' }))).toEqual({
    type: 'a',
    n: 12345678,
    text: '[redacted]',
  });
});

test('an error is reported without secrets, and is the same error if it has none', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const cause = new Error('why');
  const details = { serviceMessage: 'key-canary is unknown', status: 401 };
  const error = new VoicectlError('auth-refused', 'Refused: key-canary', {
    hint: 'Not key-canary',
    details,
    cause,
  });
  const told = redactor.thrown(error) as VoicectlError;
  expect(told).toMatchObject({
    code: 'auth-refused',
    message: 'Refused: [redacted]',
    hint: 'Not [redacted]',
    cause,
  });
  expect(told.details).toEqual({ serviceMessage: '[redacted] is unknown', status: 401 });
  expect(told.stack).toContain('redact.test.ts');
  expect(told.stack).not.toContain('canary');
  const harmless = new VoicectlError('usage', 'What?');
  expect(redactor.thrown(harmless)).toBe(harmless);
});

test('only text is changed, not null, lists or numbers', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  expect(redactor.value({ none: null, list: [null, 'key-canary'], n: 1, b: false })).toEqual({
    none: null,
    list: [null, '[redacted]'],
    n: 1,
    b: false,
  });
});

test('a value without a secret is the value itself', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const value = { none: null };
  expect(redactor.value(value)).toBe(value);
});

test.each([
  ['five characters', 'abcde', 'abcde'],
  ['six characters', 'abcdef', '[redacted]'],
])('a text of %s: %s', (_what, secret, shown) => {
  const redactor = createRedactor();
  redactor.conceal(secret);
  expect(redactor.text(secret)).toBe(shown);
});

test.each([
  ['of two parts', 'first-part.second-part'],
  ['of four parts', 'first-part.second-part.third-part.fourth-part'],
])(
  'a secret %s is redacted only as a whole: it is no token, whose parts are secrets too',
  (_what, secret) => {
    const redactor = createRedactor();
    redactor.conceal(secret);
    for (const part of secret.split('.')) expect(redactor.text(part)).toBe(part);
    expect(redactor.text(secret)).toBe('[redacted]');
  },
);

test('what is not an error passes, and so does an error without a stack', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  expect(redactor.thrown('key-canary')).toBe('key-canary');
  const error = new VoicectlError('usage', 'Not key-canary');
  delete error.stack;
  expect((redactor.thrown(error) as VoicectlError).message).toBe('Not [redacted]');
});

/** An object of one text as JSON, every character as an escape of six. */
function escapedWhole(value: Record<string, string>): string {
  const spell = (text: string) =>
    Array.from({ length: text.length }, (_, at) => {
      const hex = text.charCodeAt(at).toString(16).padStart(4, '0');
      return `\\u${at % 2 === 0 ? hex.toUpperCase() : hex}`;
    }).join('');
  const pairs = Object.entries(value).map(([name, text]) => `"${spell(name)}":"${spell(text)}"`);
  return `{${pairs.join(',')}}`;
}

test.each([
  ['as it is', (key: string) => JSON.stringify({ key })],
  ['each character as a number', (key: string) => escapedWhole({ key })],
  ['a slash with a backslash', (key: string) => JSON.stringify({ key }).replaceAll('/', '\\/')],
  ['the first character as a number', (key: string) => JSON.stringify({ key }).replace('C', '\\u0043')],
  ['within JSON within JSON', (key: string) => JSON.stringify({ said: JSON.stringify({ key }) })],
  ['as numbers within JSON', (key: string) => JSON.stringify({ said: escapedWhole({ key }) })],
  ['the same again', (key: string) => JSON.stringify({ said: JSON.stringify({ a: escapedWhole({ key }) }) })],
])('a key that is repeated %s is removed from a text, a value and a line', (_how, write) => {
  for (const key of [
    'Canary/key-1',
    'Canary"key\\2',
    'Canary\tkey\u00e9😀',
    token.replace('ey', 'CanaryX/'),
  ]) {
    const redactor = createRedactor();
    redactor.conceal(key);
    const said = write(key);
    const text = redactor.text(said);
    expect(strings(JSON.parse(text))).toEqual(['[redacted]']);
    expect(strings(redactor.value(JSON.parse(said)))).toEqual(['[redacted]']);
    expect(strings(JSON.parse((JSON.parse(redactor.line({ text: said })) as { text: string }).text))).toEqual(
      ['[redacted]'],
    );
  }
});

/** The strings at the ends of a value, and of the JSON that is in strings. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') {
    return /^[{[]/.test(value) && value !== '[redacted]' ? strings(JSON.parse(value)) : [value];
  }
  return Object.values(value as object).flatMap(strings);
}

test('a text that is similar to a key, or only a part of it, is kept', () => {
  const redactor = createRedactor();
  redactor.conceal('Canary-key');
  for (const text of ['canary-key', 'Canary\\-ke', '\\u0043anary', 'Canary\n-key', 'C\\a\\n\\a\\r']) {
    expect(redactor.text(text)).toBe(text);
  }
});

test('a key that looks like an escape is found with each of its characters as a number', () => {
  const redactor = createRedactor();
  redactor.conceal('\\u4011\\ 1 +0');
  const numbers = [...'\\u4011\\ 1 +0'].map(
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  expect(redactor.text(`x ${numbers.join('')} y`)).toBe('x [redacted] y');
});

test('a text of backslashes only is searched quickly, whatever the key', () => {
  const redactor = createRedactor();
  for (const key of ['Canary-key', `a${'\\'.repeat(40)}b`, '\\a\\b\\c\\d']) redactor.conceal(key);
  const text = '\\'.repeat(200_000);
  expect(redactor.text(text)).toBe(text);
});

test('a foreign error is reported without secrets too, and so are its causes', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const told = redactor.thrown(new TypeError('no key-canary', { cause: new Error('key-canary') }));
  expect(told).toMatchObject({ code: 'internal', message: 'no [redacted]', cause: { name: 'TypeError' } });
  expect(inspect(told)).not.toContain('canary');
  const outer = new VoicectlError('stream-broken', 'Gone', { cause: new Error('gone with key-canary') });
  expect(inspect(redactor.thrown(outer))).not.toContain('canary');
  const harmless = new TypeError('no');
  expect(redactor.thrown(harmless)).toBe(harmless);
});

test('a cause is reported without secrets, and so is its cause', () => {
  const redactor = createRedactor();
  redactor.conceal('key-canary');
  const inner = new TypeError('inner key-canary');
  const error = new VoicectlError('usage', 'What?', { cause: new Error('outer', { cause: inner }) });
  const told = (redactor.thrown(error) as VoicectlError).cause as Error;
  expect(told.message).toBe('outer');
  expect(told.cause).toMatchObject({ name: 'TypeError', message: 'inner [redacted]' });
  expect(`${told.stack}${(told.cause as Error).stack}`).not.toContain('canary');
  expect('cause' in (told.cause as Error)).toBe(false);
});

const slashed = '\\"/u0041%41 +=é😀\n\t';

/** Texts of these many units, with much in them that escapes or is escaped. */
function texts(minLength: number, maxLength: number) {
  const unit = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...slashed) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 1, unit: 'grapheme' }) },
  );
  return fc.string({ unit, minLength, maxLength, size: 'max' }).filter((text) => text.length >= minLength);
}

describe.each(Object.entries(spellings))('a secret written as %s', (_name, write) => {
  const before = fc.constantFrom('', ' ', '"', '\\"', 'x=', '\n', ': \\n', 'C:\\dir\\ ');
  // A hexadecimal digit could complete an escape that a secret ends with.
  const after = fc.constantFrom('', ' ', '"', '\\"', '&x=', '\n', ': \\n', '}');
  const given = fc.record({ secret: texts(6, 80), before, after });

  test('is found with any characters, whatever is beside it', () => {
    fc.assert(
      fc.property(given, ({ secret, before, after }) => {
        // Backslashes alone are no secret.
        fc.pre(unescapeText(secret).text.length >= 6);
        const redactor = createRedactor();
        redactor.conceal(secret);
        const told = redactor.text(`${before}${write(secret)}${after}`);
        expect(told).toContain('[redacted]');
        // Backslashes at the end of a secret may stay.
        const left = told.replace(/(?:\\|u005c|%5c)+/gi, '');
        expect(left.length).toBeLessThan(before.length + after.length + 20);
      }),
      { numRuns: 40 },
    );
  });

  test('is found up to 64 KiB, in a text with backslashes', () => {
    // Few of the longest, which take longest; one of 64 KiB is always among them.
    const sizes = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(6, 33, 1_000) },
      { weight: 1, arbitrary: fc.constantFrom(10_000, 65_536) },
    );
    fc.assert(
      fc.property(sizes, fc.string({ minLength: 3, maxLength: 9 }), fc.nat(), (size, text, seed) => {
        const secret = randomText(seed, size);
        const redactor = createRedactor();
        redactor.conceal(secret);
        const filler = spellings['JSON in JSON']?.(`${text}\\ `) ?? '';
        const told = redactor.text(`${filler}${write(secret)} ${filler}`);
        expect(told).toContain('[redacted]');
        expect(told).not.toContain(secret.slice(0, 6));
        expect(told.length).toBeLessThan(2 * filler.length + 25);
      }),
      { numRuns: 12, examples: [[65_536, 'a\\b', 1]] },
    );
  });
});

/** Letters and digits without any order. */
function randomText(seed: number, size: number): string {
  const chunks = Array.from({ length: Math.ceil(size / 43) }, (_, at) =>
    createHash('sha256').update(`${seed} ${at}`).digest('base64url'),
  );
  return chunks.join('').replace(/[-_]/g, 'x').slice(0, size);
}

test('a text without a secret is not changed', () => {
  fc.assert(
    fc.property(texts(6, 40), texts(0, 200), (secret, text) => {
      const redactor = createRedactor();
      redactor.conceal(secret);
      const isThere = Object.values(spellings).some((write) => text.includes(write(secret)));
      const value = { list: [text, 1, null], [text]: true };
      if (!isThere && redactor.text(text) === text) expect(redactor.value(value)).toBe(value);
      expect(redactor.text(text.replaceAll(/[\\%+ \n\t]/g, '-').replaceAll(secret, ''))).not.toContain(
        '[redacted]',
      );
    }),
  );
});

test('a JSON value keeps its shape: each secret is removed from its own text', () => {
  fc.assert(
    fc.property(texts(6, 40), texts(0, 20), texts(0, 20), (secret, before, after) => {
      const redactor = createRedactor();
      redactor.conceal(secret);
      const said = { n: 1, list: [null, `${before}${secret}${after}`, { [secret]: 'x' }] };
      const told = JSON.parse(concealText(JSON.stringify(said), redactor));
      expect(told.list[2]).toEqual({ '[redacted]': 'x' });
      expect(JSON.stringify(told)).not.toContain(JSON.stringify(secret).slice(1, -1));
    }),
  );
});

test('secrets that overlap, repeat and contain one another leave nothing behind', () => {
  const redactor = createRedactor();
  for (const secret of ['abcdef', 'xxabcdefyyzz', 'defghi', 'Q'.repeat(100)]) redactor.conceal(secret);
  expect(redactor.text('-xxabcdefyyzz-abcdefghi-abcdefabcdef-')).toBe(
    '-[redacted]-[redacted]-[redacted][redacted]-',
  );
  expect(redactor.text(`-${'Q'.repeat(1_000)}-`)).toBe('-[redacted]-');
});

test('a long secret is replaced as a whole, and so is its end alone', () => {
  const secret = randomText(1, 1_000);
  const redactor = createRedactor();
  redactor.conceal(secret);
  expect(redactor.text(`(${secret})`)).toBe('([redacted])');
  expect(redactor.text(`(${secret.slice(-40)})`)).toBe('([redacted])');
});

test('an index forgets a secret, and keeps the others', () => {
  const index = createSecretIndex();
  index.add('first-key');
  index.add('second-key');
  const redactor = createRedactor(index);
  expect(redactor.text('first-key second-key')).toBe('[redacted] [redacted]');
  index.delete('first-key');
  expect(redactor.text('first-key second-key')).toBe('first-key [redacted]');
  index.delete('second-key');
  expect(redactor.text('first-key second-key')).toBe('first-key second-key');
});

test.each([1_000, 3_500, 20_000])('no depth of a value with a secret is an error: %i', (depth) => {
  const redactor = createRedactor(createSecretIndex(['first-key']));
  const value: unknown = JSON.parse(
    `{"key":"first-key","deep":${'['.repeat(depth)}"first-key"${']'.repeat(depth)}}`,
  );
  const clean = redactor.line(redactor.value(value));
  expect(clean).not.toContain('first-key');
  expect(clean).toContain('"key":"[redacted]"');
});

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseExpectFile } from '../../src/config/expect-file.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const ajv = new Ajv2020({ allowUnionTypes: true, formats: { regex: true } });
const conforms = ajv.compile(JSON.parse(read('schema/expect-file.schema.json')));

const whole = `
$schema: ./expect-file.schema.json
turns:
  - name: a
    say: a.wav
    when: connected
    expect-audio: 1s
    expect-audible: 500ms
    max-audio: 10s
    max-first-audio: 2s
    max-gap: 300ms
    max-jitter: 100ms
    expect:
      - { audio: 0, within: 3s }
      - { event: status, where: { status: speaking, n: { min: 1, max: 2 }, s: { matches: ^a, one-of: [a, 1, null] }, t: { like: half past nine, wer: 0.2 } } }
      - { silence: 400ms }
    absent: [audio, { event: error, where: { error.code: QUOTA } }]
  - { when: { during-reply: 600ms } }
  - { when: { after: 2s } }
  - { when: after-reply, say: { text: good morning, by: [espeak-ng, -w, '{wav}', '{text}'] } }
max-gap: 1s
expect-event: [status]
forbid-event: [error]
expect-close: 1000
`;

describe('a conversation file', () => {
  test.each([
    ['with everything in it', whole],
    ['with the least', 'turns: [{}]'],
    ['of the examples', read('examples/conversation.yaml')],
  ])('%s is allowed by the published schema, and is read', (_what, text) => {
    expect(conforms(parse(text)), JSON.stringify(conforms.errors)).toBe(true);
    expect(() => parseExpectFile(text, 'f.yaml')).not.toThrow();
  });

  test('has its durations in milliseconds, and its defaults', () => {
    const { turns } = parseExpectFile(whole, 'f.yaml').value;
    expect(turns[0]).toMatchObject({ 'expect-audio': 1_000, 'expect-audible': 500, 'max-gap': 300 });
    expect(turns[0]?.expect[0]).toEqual({ audio: 0, within: 3_000 });
    expect(turns[1]).toEqual({ when: { 'during-reply': 600 }, expect: [], absent: [] });
  });

  test('a yield limit that is longer than can be measured is refused with the reason', () => {
    const file = (limit: string) => `turns: [{ max-yield: ${limit} }]\nmax-yield: ${limit}\n`;
    expect(() => parseExpectFile(file('2s'), 'f.yaml')).not.toThrow();
    expect(() => parseExpectFile(file('2001ms'), 'f.yaml')).toThrow(
      /expected at most 2000 ms: an AI that keeps speaking for 2 s after an interruption counts as never yielding/,
    );
  });

  test.each([
    ['an unknown key', 'turns: [{ x: 1 }]'],
    ['no turns', '{}'],
    ['an empty list of turns', 'turns: []'],
    ['a command without a place for its WAV', 'turns: [{ say: { text: a, by: [espeak-ng] } }]'],
    ['an error rate without words', 'turns: [{ expect: [{ event: a, where: { b: { wer: 0.2 } } }] }]'],
    ['words of punctuation only', "turns: [{ expect: [{ event: a, where: { b: { like: '...' } } }] }]"],
    ['two moments at once', 'turns: [{ when: { after: 1s, during-reply: 1s } }]'],
    ['two things to expect in one', 'turns: [{ expect: [{ audio: 1s, silence: 1s }] }]'],
    ['a duration that is a list', 'turns: [{ max-gap: [1] }]'],
    ['a close code that does not exist', 'turns: [{}]\nexpect-close: 200'],
  ])('with %s is refused by the published schema and by the program', (_what, text) => {
    expect(conforms(parse(text))).toBe(false);
    expect(() => parseExpectFile(text, 'f.yaml')).toThrow(/^f\.yaml:\d+:\d+: /);
  });
});

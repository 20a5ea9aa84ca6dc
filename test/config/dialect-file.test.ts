import { describe, expect, test } from 'vitest';
import { readDialect } from '../../src/config/dialect-file.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';

describe('a dialect file', () => {
  test.each([
    ['YAML', 'stream:\n  kindField: event\n'],
    ['JSON', '{"stream":{"kindField":"event"}}'],
  ])('may be %s', (_form, text) => {
    expect(readDialect(text, 'd')).toEqual({ stream: { kindField: 'event' } });
  });

  test('may be empty', () => {
    expect(readDialect('# all as it is\n', 'd')).toEqual({});
  });

  test.each([
    ['an unknown setting', 'strem: {}\n', /^d\.yaml:1:1: strem: no such setting/],
    ['a wrong type', 'stream: { kindField: 7 }\n', /^d\.yaml:1:22: stream\.kindField: 7, expected .*string/],
    ['a list', '[]\n', /^d\.yaml:1:1: /],
    ['broken YAML', 'stream: [\n', /^d\.yaml:\d:\d: /],
    ['an alias of nothing', 'stream: *nothing\n', /^d\.yaml:1:9: there is no anchor &nothing/],
    ['a key twice', 'stream: {}\nstream: {}\n', /^d\.yaml:2:1: .*unique/i],
  ])('with %s is refused with its place', (_what, text, expected) => {
    const read = () => readDialect(text, 'd.yaml');
    expect(read).toThrow(VoicectlError);
    expect(read).toThrow(
      expect.objectContaining({ code: 'bad-dialect', message: expect.stringMatching(expected) }),
    );
  });

  test('that an alias would make huge is refused', () => {
    const levels = Array.from(
      { length: 12 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(',')}]`,
    );
    const text = `l0: &l0 [x]\n${levels.join('\n')}\n`;
    expect(() => readDialect(text, 'd.yaml')).toThrow(expect.objectContaining({ code: 'bad-dialect' }));
  });
});

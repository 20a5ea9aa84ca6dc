import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { parseYamlFile, readYamlFile } from '../../src/files/yaml-file.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { durationSchema } from '../../src/protocol/duration.ts';

const schema = z.strictObject({
  name: z.string().default('nobody'),
  turns: z
    .array(
      z.strictObject({
        say: z.string(),
        within: z.union([z.literal('ever'), z.strictObject({ ms: z.number() })]).optional(),
      }),
    )
    .default([]),
});

function problemOf(text: string, options = {}) {
  try {
    parseYamlFile(text, 'f.yaml', { schema, ...options });
  } catch (thrown) {
    return thrown as VoicectlError;
  }
  throw new Error('it was accepted');
}

describe('a YAML file', () => {
  test.each([
    ['YAML', 'turns:\n  - say: hello.wav\n'],
    ['JSON', '{"turns": [{"say": "hello.wav"}]}'],
  ])('as %s gives the parsed value and its input', (_form, text) => {
    expect(parseYamlFile(text, 'f', { schema })).toMatchObject({
      value: { name: 'nobody', turns: [{ say: 'hello.wav' }] },
      input: { turns: [{ say: 'hello.wav' }] },
    });
  });

  test('that is empty is an empty mapping', () => {
    expect(parseYamlFile('# nothing\n', 'f', { schema }).value).toEqual({ name: 'nobody', turns: [] });
  });

  test.each([
    ['a wrong value', 'turns:\n  - say: a\n  - say: 7\n', 'f.yaml:3:10: turns.1.say: 7, expected string'],
    ['a missing value', 'turns:\n  - {}\n', 'f.yaml:2:5: turns.0.say: missing, expected string'],
    [
      'an unknown setting',
      'turns:\n  - say: a\n    sya: 2\n',
      'f.yaml:3:5: turns.0.sya: no such setting, did you mean say?',
    ],
    ['a null', 'turns:\n', 'f.yaml:1:7: turns: null, expected array'],
    ['a list at the root', '\n- 1\n', 'f.yaml:2:1: (root): (a list), expected object'],
    ['broken YAML', 'turns: [\n  a: :\n', /^f\.yaml:\d:\d: /],
    ['a key twice', 'name: a\nname: b\n', 'f.yaml:2:1: Map keys must be unique'],
    ['two documents', 'name: a\n---\nname: b\n', /^f\.yaml:2:\d: .*multiple documents/],
    ['an alias loop', 'turns: &a [*a]\n', 'f.yaml:1:12: the alias *a is inside the part that it repeats'],
    [
      'a deeper alias loop',
      'turns: &a\n  - { say: b, within: { ms: *a } }\n',
      'f.yaml:2:29: the alias *a is inside the part that it repeats',
    ],
    [
      'aliases that repeat too much',
      `name: &a [x, x, x]\nturns: &b [${'*a, '.repeat(99)}*a]\nmore: [${'*b, '.repeat(99)}*b]\n`,
      'f.yaml:2:12: its aliases cannot be followed: they repeat too much',
    ],
    ['an alias of nothing', 'name: *nobody\n', 'f.yaml:1:7: there is no anchor &nobody before this alias'],
    [
      'the last of two alternatives',
      'turns:\n  - say: a\n    within: { ms: x }\n',
      'f.yaml:3:19: turns.0.within.ms: "x", expected number',
    ],
    [
      'none of two alternatives',
      'turns:\n  - say: a\n    within: never\n',
      'f.yaml:3:13: turns.0.within: "never", expected one of "ever" or object',
    ],
    [
      'a wrong value by an alias',
      'turns:\n  - &a { say: 7 }\n',
      'f.yaml:2:15: turns.0.say: 7, expected string',
    ],
  ])('with %s is refused with its place', (_what, text, expected) => {
    const problem = problemOf(text);
    expect(problem).toBeInstanceOf(VoicectlError);
    expect(problem.code).toBe('bad-input');
    if (typeof expected === 'string') expect(problem.message).toBe(expected);
    else expect(problem.message).toMatch(expected);
  });

  test('reports all of its problems at once, with a suggestion for an unknown setting', () => {
    const { message, details } = problemOf(
      'nmae: 1\nb: 2\nname: 7\nturns:\n  - say: a\n    witin: ever\n  - sya: a\n    say: b\n',
    );
    expect(message.split('; ')).toEqual([
      'f.yaml:1:1: nmae: no such setting, did you mean name?',
      'f.yaml:2:1: b: no such setting',
      'f.yaml:3:7: name: 7, expected string',
      'f.yaml:6:5: turns.0.witin: no such setting, did you mean within?',
      'f.yaml:7:5: turns.1.sya: no such setting, did you mean say?',
    ]);
    expect(details.problems).toContainEqual({
      path: 'name',
      value: 7,
      expected: 'string',
      line: 3,
      column: 7,
    });
  });

  test('with a hundred problems reports the first ten, and how many more there are', () => {
    const { message, details } = problemOf(Array.from({ length: 100 }, (_, i) => `x${i}: 1\n`).join(''));
    expect(message.split('; ')).toHaveLength(11);
    expect(message).toMatch(/; and 90 more$/);
    expect(details.problems).toHaveLength(100);
  });

  test('needs the unit of each duration at any depth; 0 needs none', () => {
    const timed = z.strictObject({
      wait: durationSchema.optional(),
      steps: z
        .array(z.union([z.string(), z.strictObject({ after: durationSchema.describe('Later') })]))
        .default([]),
      count: z.number().optional(),
    });
    const read = (text: string) => parseYamlFile(text, 'f.yaml', { schema: timed });
    expect(read('wait: 0\ncount: 7\nsteps: [{ after: 2s }]\n').value).toMatchObject({ wait: 0, count: 7 });
    expect(() => read('wait: 2\nsteps: [a, { after: 1.5 }]\n')).toThrow(
      'f.yaml:1:7: wait: 2, expected a duration with its unit: 2s or 2ms?; ' +
        'f.yaml:2:21: steps.1.after: 1.5, expected a duration with its unit: 1.5s or 1.5ms?',
    );
  });

  test('is refused with the given code and hint, without secrets', () => {
    const options = { code: 'bad-config', hint: 'See there.', secrets: new Set(['name']) };
    const problem = problemOf('name: [hush]\nxname: hush\n', options);
    expect(problem).toMatchObject({ code: 'bad-config', hint: 'See there.' });
    expect(JSON.stringify([problem.message, problem.details])).not.toContain('hush');
  });

  test('lets its reader refuse a value that no schema can judge, at its place', () => {
    const file = parseYamlFile('turns:\n  - say: a.wav\n', 'f.yaml', { schema });
    expect(file.refuse(['turns', 0, 'say'], 'no such file')).toMatchObject({
      code: 'bad-input',
      message: 'f.yaml:2:10: turns.0.say: no such file',
    });
  });

  test('that does not exist is refused', async () => {
    const stdin = { stdin: Readable.from([]), signal: new AbortController().signal };
    await expect(readYamlFile('/no/such.yaml', stdin, { schema })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('/no/such.yaml'),
    });
  });

  test('may come from standard input', async () => {
    const stdin = { stdin: Readable.from(['name: somebody\n']), signal: new AbortController().signal };
    await expect(readYamlFile('-', stdin, { schema })).resolves.toMatchObject({
      value: { name: 'somebody' },
    });
  });
});

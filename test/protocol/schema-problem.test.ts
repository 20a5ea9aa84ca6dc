import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { describeIssue, issuePath, noSuchSetting } from '../../src/protocol/schema-problem.ts';

const schema = z.strictObject({
  port: z.int().optional(),
  secret: z.string().optional(),
  token: z.strictObject({ secret: z.string().min(4).optional(), kind: z.string().optional() }).optional(),
  mode: z.enum(['a', 'b']).optional(),
  list: z.array(z.int()).optional(),
  odd: z
    .any()
    .refine(() => false, 'this is expected something odd')
    .optional(),
  either: z
    .union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.strictObject({ c: z.int() }) })])
    .optional(),
  deeperLast: z
    .union([z.strictObject({ a: z.int() }), z.strictObject({ a: z.strictObject({ b: z.int() }) })])
    .optional(),
  deeperFirst: z
    .union([z.strictObject({ a: z.strictObject({ b: z.int() }) }), z.strictObject({ a: z.int() })])
    .optional(),
  both: z.union([z.number(), z.boolean()]).optional(),
  named: z
    .union([z.enum(['x']), z.strictObject({ event: z.string() }), z.strictObject({ bytes: z.int() })])
    .optional(),
});

function problemOf(input: unknown, secrets: readonly string[] = []) {
  const issue = schema.safeParse(input, { reportInput: true }).error?.issues[0];
  if (issue === undefined) throw new Error('it is valid');
  return { ...describeIssue(issue, new Set(secrets)), at: issuePath(issue) };
}

describe('a problem says where it is, what is there and what was expected', () => {
  test.each([
    ['another type', { port: 'x' }, { path: 'port', value: 'x', expected: 'number', at: ['port'] }],
    [
      'a setting of no alternative',
      { named: { evnt: 'door' } },
      { path: 'named.evnt', expected: noSuchSetting, at: ['named', 'evnt'] },
    ],
    ['a value of a choice', { mode: 'c' }, { path: 'mode', value: 'c', expected: 'one of "a", "b"' }],
    [
      'an item of a list',
      { list: [1, 'x'] },
      { path: 'list.1', value: 'x', expected: 'number', at: ['list', 1] },
    ],
    ['a list in place of a value', { port: [] }, { path: 'port', value: '(a list)' }],
    ['an object in place of a value', { port: {} }, { path: 'port', value: '(an object)' }],
    ['null in place of a value', { port: null }, { path: 'port', value: null }],
    ['a text in place of all', 'x', { path: '(root)', value: 'x', expected: 'object', at: [] }],
    ['a message of our own', { odd: 1 }, { path: 'odd', value: 1, expected: 'something odd' }],
    ['a choice of types', { both: 'x' }, { path: 'both', value: 'x', expected: 'number or boolean' }],
  ])('%s', (_what, input, problem) => {
    expect(problemOf(input)).toMatchObject(problem);
  });

  test('a setting that does not exist is the place itself, and its value stays hidden', () => {
    expect(problemOf({ token: { sekret: 'x' } })).toEqual({
      path: 'token.sekret',
      value: '(hidden)',
      expected: noSuchSetting,
      at: ['token', 'sekret'],
    });
  });
});

describe('of several alternatives the problem is of the one that is nearest', () => {
  test.each([
    [
      'the deeper one',
      { either: { b: { c: 'x' } } },
      { path: 'either.b.c', expected: 'number', at: ['either', 'b', 'c'] },
    ],
    ['the one with fewer problems', { either: { a: 'x' } }, { path: 'either.a', expected: 'number' }],
    [
      'the deeper one of two with as many problems',
      { deeperLast: { a: { b: 'x' } } },
      { path: 'deeperLast.a.b', expected: 'number' },
    ],
    [
      'that one also where it stands first',
      { deeperFirst: { a: { b: 'x' } } },
      { path: 'deeperFirst.a.b', expected: 'number' },
    ],
  ])('%s', (_what, input, problem) => {
    expect(problemOf(input)).toMatchObject(problem);
  });

  test('no alternative is nearest if none fits', () => {
    expect(problemOf({ either: 7 })).toMatchObject({ path: 'either', value: 7, expected: 'object' });
  });
});

describe('a secret is not shown', () => {
  test.each([
    ['itself', { secret: 7 }, '(hidden)'],
    ['within a section', { token: { secret: 'abc' } }, '(hidden)'],
    ['in place of a section', { token: 'my secret' }, '(hidden)'],
  ])('%s', (_what, input, value) => {
    expect(problemOf(input, ['secret'])).toMatchObject({ value });
  });

  test.each([
    ['another setting', { token: { kind: 7 } }, ['secret'], 7],
    ['a number in place of a section', { token: 7 }, ['secret'], 7],
    ['a text in place of a section, where nothing is secret', { token: 'x' }, [], 'x'],
    ['a text in place of a number', { port: 'x' }, ['secret'], 'x'],
  ])('but %s is', (_what, input, secrets, value) => {
    expect(problemOf(input, secrets)).toMatchObject({ value });
  });
});

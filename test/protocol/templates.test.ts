import { describe, expect, test } from 'vitest';
import { fillTemplates, type TemplateValues, templateProblem } from '../../src/protocol/dialect/templates.ts';

let sequence = 0;
const values: TemplateValues = {
  uuid: () => 'a uuid',
  session: 'the session',
  nowMs: () => 1_800_000_000_123.7,
  device: 'd1',
  stream: 3,
  nextSequence: () => ++sequence,
};

describe('a template', () => {
  test.each([
    [{ $uuid: true }, 'a uuid'],
    [{ $session: true }, 'the session'],
    [{ $device: true }, 'd1'],
    [{ $stream: true }, 3],
    [{ $now: 'iso8601' }, '2027-01-15T08:00:00.123Z'],
    [{ $now: 'seconds' }, 1_800_000_000],
    [{ $now: 'milliseconds' }, 1_800_000_000_123],
    [
      [{ $stream: true }, 'x'],
      [3, 'x'],
    ],
    [
      { in: { deep: { $stream: true } }, other: null },
      { in: { deep: 3 }, other: null },
    ],
    [
      { $stream: true, $device: true },
      { $stream: true, $device: true },
    ],
    [{ $other: true }, { $other: true }],
    [{ stream: true }, { stream: true }],
    [[{}], [{}]],
    ['$stream', '$stream'],
    [7, 7],
  ])('%j becomes %j', (written, filled) => {
    expect(fillTemplates(written, values)).toEqual(filled);
  });

  test('for the device is null until a token is accepted', () => {
    expect(fillTemplates({ $device: true }, { ...values, device: undefined })).toBeNull();
  });

  test('for the sequence counts', () => {
    sequence = 0;
    expect(fillTemplates([{ $sequence: true }, { $sequence: true }], values)).toEqual([1, 2]);
  });
});

describe('a wrong template', () => {
  const known = 'one of the templates $uuid, $session, $device, $stream, $sequence, $now';
  test.each([
    [{ $uuid: false }, '$uuid: true'],
    [{ $now: 'soon' }, '$now: one of "iso8601", "seconds", "milliseconds"'],
    [{ $then: true }, known],
    [{ $toString: true }, known],
    [{ a: [{ b: { $then: true } }] }, known],
    [[1, { $uuid: 1 }, { $then: true }], '$uuid: true'],
  ])('%j is expected to be %s', (written, expected) => {
    expect(templateProblem(written)).toBe(expected);
  });

  test.each([
    [{ $uuid: true }],
    [{ $now: 'seconds' }],
    [{ a: [{ $stream: true }] }],
    ['$then'],
    [null],
    [[]],
  ])('%j is not a template', (written) => {
    expect(templateProblem(written)).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { type ErrorCode, exitCodes, VoicectlError } from '../../src/kernel/errors.ts';
import {
  describeFailure,
  exitCodesOf,
  type FailureKind,
  failureKind,
  failureKinds,
  kindCountsText,
} from '../../src/kernel/failure-kind.ts';

const codes = Object.keys(exitCodes) as ErrorCode[];
const kinds = Object.keys(failureKinds) as FailureKind[];

describe('the kind of a failure', () => {
  test.each(codes.filter((code) => code !== 'expectation-failed'))(
    'exists for the error %s, with its exit code',
    (code) => {
      const error = new VoicectlError(code, 'oops');
      expect(kinds).toContain(failureKind(error));
      expect(exitCodesOf(failureKind(error))).toContain(error.exitCode);
    },
  );

  test('of an expectation comes from its error', () => {
    const error = new VoicectlError('expectation-failed', 'late', { details: { kind: 'late-audio' } });
    expect(describeFailure(error)).toEqual({
      kind: 'late-audio',
      code: 'expectation-failed',
      exitCode: 1,
      message: 'late',
    });
  });

  test('of an expectation that has none, or an unknown one, is a bug', () => {
    for (const kind of [undefined, 'toString', 'unheard-of']) {
      expect(failureKind(new VoicectlError('expectation-failed', '', { details: { kind } }))).toBe('bug');
    }
  });

  test('without an error belongs to an expectation, and so to exit code 1', () => {
    const ofErrors = codes
      .filter((code) => code !== 'expectation-failed')
      .map((code) => failureKind(new VoicectlError(code, '')));
    const rest = kinds.filter((kind) => !ofErrors.includes(kind));
    expect(rest.length).toBeGreaterThan(8);
    for (const kind of rest) expect(exitCodesOf(kind)).toEqual([1]);
  });
});

test('counts of kinds are one line', () => {
  expect(kindCountsText({ 'late-audio': 2, unreachable: 1 })).toBe('late-audio × 2, unreachable × 1');
});

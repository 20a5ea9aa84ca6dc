import { describe, expect, test } from 'vitest';
import { controlOperation, messageSchema, parseControlAnswer } from '../../src/protocol/control.ts';

describe('a message to send is exactly one of three', () => {
  test.each([
    [{ status: 'speaking' }, true],
    [{ error: { code: 'C', message: '' } }, true],
    [{ json: { any: 'thing' } }, true],
    [{ json: null, stream: 1 }, true],
    [{}, false],
    [{ device: 'd1' }, false],
    [{ status: 'speaking', json: {} }, false],
    [{ error: { code: 'C', message: '' }, json: {} }, false],
  ])('%j: %j', (body, isValid) => {
    expect(messageSchema.safeParse(body).success).toBe(isValid);
  });

  test('reports what is wrong', () => {
    const { error } = messageSchema.safeParse({});
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'expected exactly one of status, error and json',
    ]);
  });
});

test('an answer is parsed by the schema of its operation', () => {
  expect(parseControlAnswer('health', { status: 'ok', version: '1', more: true })).toEqual({
    status: 'ok',
    version: '1',
  });
  expect(() => parseControlAnswer('health', { status: 'ill', version: '1' })).toThrow();
});

test('an operation has its method and path', () => {
  expect(controlOperation('advance')).toMatchObject({ method: 'POST', path: '/clock' });
});

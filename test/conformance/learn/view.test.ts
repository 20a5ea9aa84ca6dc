import { describe, expect, test } from 'vitest';
import { inferDialect } from '../../../src/conformance/learn/infer.ts';
import { confirms, connects, presents, speaks } from '../../helpers/device-exchanges.ts';
import { answered, replies, serviceToken, tells } from '../../helpers/service-exchanges.ts';

const token = serviceToken();

describe('a message that is nested too deeply is not learned from, and the rest is:', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  test.each([
    ['a status', { type: 'status', status: 'speaking' }],
    ['an error', { type: 'error', error: { code: 'A', message: 'b' } }],
    ['a message of any other kind', { type: 'other' }],
  ])('%s', (_what, body) => {
    const text = JSON.stringify({ ...body, more: 0 }).replace(':0}', `:${deep}}`);
    const messages = [presents(token, 10), confirms(20), ...speaks(30), tells(text, 40), replies(50)];
    const { settings } = inferDialect(
      [
        { id: 'E1', exchange: answered({ token }) },
        { id: 'S1', exchange: connects({ messages: [...messages, tells(text, 60)] }) },
        { id: 'S3', exchange: connects({ at: 100, messages }) },
        { id: 'S4', exchange: connects({ at: 200, messages, end: { at: 250, by: 'service', code: 4001 } }) },
      ],
      10_000,
    );
    const values = settings.map(({ setting: { path }, learned }) => [
      path,
      'value' in learned && learned.value,
    ]);
    expect(Object.fromEntries(values)).toMatchObject({
      'stream.kindField': 'type',
      'stream.status.send': false,
      'stream.errorBeforeClose': false,
    });
  });
});

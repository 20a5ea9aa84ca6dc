import { expect, test } from 'vitest';
import { createRedactor } from '../../src/kernel/redact.ts';
import { concealText } from '../../src/wire/conceal.ts';
import { jwt } from '../helpers/device-exchanges.ts';

const token = jwt(1);

test.each([
  ['that is nothing but a token', token, '[redacted]'],
  ['with a token in a field', `{"resume":"${token}"}`, '{"resume":"[redacted]"}'],
  ['with a token in escapes', `{"a":"\\n","resume":"${token}"}`, '{"a":"\\n","resume":"[redacted]"}'],
  ['without one', '{"a":"b.c.d"}', '{"a":"b.c.d"}'],
])('a text %s has no token, also if nobody has presented or granted it', (_what, text, concealed) => {
  expect(concealText(text, createRedactor())).toBe(concealed);
});

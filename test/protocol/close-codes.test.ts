import { expect, test } from 'vitest';
import { closeReasonSchema } from '../../src/protocol/close-code-schema.ts';
import { closeCodeName, closeCodes, closeText, isSendableCloseCode } from '../../src/protocol/close-codes.ts';

test.each([
  [999, false],
  [1000, true],
  [1003, true],
  [1004, false],
  [1005, false],
  [1006, false],
  [1007, true],
  [1014, true],
  [1015, false],
  [1016, false],
  [2999, false],
  [3000, true],
  [4408, true],
  [4999, true],
  [5000, false],
])('close code %i may be sent: %s', (code, sendable) => {
  expect(isSendableCloseCode(code)).toBe(sendable);
});

test.each([
  [1000, 'normal'],
  [1006, 'abnormal'],
  [1009, 'message too big'],
  [1015, 'TLS failure'],
  [1016, 'unassigned'],
  [2500, 'unassigned'],
  [3000, 'registered'],
  [3999, 'registered'],
  [4000, 'application'],
  [4401, 'application'],
])('close code %i is called %j', (code, name) => {
  expect(closeCodeName(code)).toBe(name);
});

test('every code that is known by name has a name to show', () => {
  for (const code of Object.values(closeCodes)) expect(closeCodeName(code)).not.toBe('unassigned');
});

test.each([
  ['', true],
  ['x'.repeat(123), true],
  ['x'.repeat(124), false],
  [`${'é'.repeat(61)}x`, true],
  ['é'.repeat(62), false],
])('a reason of %j may be sent: %s', (reason, sendable) => {
  expect(closeReasonSchema.safeParse(reason).success).toBe(sendable);
});

test('a close has its name, and its reason if it has one', () => {
  expect(closeText({ code: 4001, reason: 'bye' })).toBe('4001 application: bye');
  expect(closeText({ code: 1000, reason: '' })).toBe('1000 normal');
});

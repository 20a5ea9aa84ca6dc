import { expect, test } from 'vitest';
import { requireLawful } from '../../../src/commands/proxy/proxy-settings.ts';

test.each([
  [undefined, { violations: 1, remarks: 1 }, undefined],
  ['violation', { violations: 0, remarks: 1 }, undefined],
  ['violation', { violations: 1, remarks: 1 }, 'Found 1 violation (--fail-on violation)'],
  ['remark', { violations: 0, remarks: 0 }, undefined],
  ['remark', { violations: 0, remarks: 2 }, 'Found 0 violations and 2 remarks (--fail-on remark)'],
  ['remark', { violations: 2, remarks: 0 }, 'Found 2 violations and 0 remarks (--fail-on remark)'],
] as const)('--fail-on %s, of %j, fails: %s', (failOn, counts, message) => {
  const judge = () => requireLawful(counts, failOn);
  if (message === undefined) expect(judge).not.toThrow();
  else expect(judge).toThrow(message);
});

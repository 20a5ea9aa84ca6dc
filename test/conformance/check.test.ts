import { expect, test } from 'vitest';
import { check, complaints, everything } from '../helpers/checks.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { hastyClock } from '../helpers/hasten.ts';

const start = setUpEmulators();

test('the emulator follows every rule, and moved time is not waited for', async () => {
  const emulator = await start({ reply: 'echo', clock: hastyClock });
  const result = await check(emulator, { scope: { levels: everything }, isEmulator: true });
  expect(complaints(result)).toEqual([]);
  expect(result.exitCode).toBe(0);
  expect(result.verdicts).toMatchObject({ pass: 43, skipped: 1, observed: 1 });
});

test('a rule that is settled after a minute compares with a token of its own, not with an expired one', async () => {
  const emulator = await start({ reply: 'echo', clock: hastyClock });
  const { rules } = await check(emulator, { scope: { rules: ['R12', 'R41'] }, isEmulator: true });
  expect(rules.map(({ rule, finding }) => `${rule.id} ${finding.verdict}`)).toEqual(['R12 pass', 'R41 pass']);
  expect(rules[0]?.evidence.map(({ id }) => id)).toContain('E1-again');
});

test('a stream that waits until others are opened sends audio meanwhile, so that no service ends it as idle', async () => {
  const emulator = await start({ reply: 'silence', keepAudio: true, clock: hastyClock });
  const result = await check(emulator, { scope: { rules: ['R42'] }, isEmulator: true });
  expect(complaints(result)).toEqual([]);
  const sentMs = Array.from(
    { length: 10 },
    (_, at) => emulator.stream({ stream: at + 1 }).audio().durationMs,
  );
  expect(sentMs).toEqual([200, 180, 160, 140, 120, 100, 80, 60, 40, 20]);
});

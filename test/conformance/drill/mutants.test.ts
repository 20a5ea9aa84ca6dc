import { beforeAll, describe, expect, test } from 'vitest';
import { drillRules, situations } from '../../../src/conformance/drill/catalogue.ts';
import { type DrillResult, drill } from '../../../src/conformance/drill/drill.ts';
import { createCertificate } from '../../../src/wire/server/self-signed.ts';
import { hasten } from '../../helpers/hasten.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { lawfulDevice, type MiniDevice, miniDevice } from '../../helpers/mini-device.ts';
import { type DeviceMutant, deviceMutants } from './device-mutants.ts';

const clock = createManualClock();
const signal = new AbortController().signal;

const ruleOf = ({ id }: { id: string }) => id.split('-')[0] ?? '';
/**
 * Situations in which a device must not fail for another rule, beside those of the rule that it breaks. With
 * `DEVICES=all`, as in `npm run conformance`, the first of each rule; else one of each part of a life, of which each device
 * is put into two: it is granted a token and loses a stream, it is refused, it streams on, it loses a service, it ends.
 */
const isWhole = process.env.DEVICES === 'all';
const firstOfRules = situations
  .filter((one, index) => situations.findIndex((other) => ruleOf(other) === ruleOf(one)) === index)
  .map(({ id }) => id);
const parts = ['D3', 'D7-400', 'D11-kind', 'D10-half-open', 'D13-stop'];

function situationsFor({ rule, showsIn }: Partial<DeviceMutant>, index: number) {
  if (rule === undefined) return situations;
  const others = isWhole ? firstOfRules : [0, 1].map((more) => parts[(2 * index + more) % parts.length]);
  return situations.filter(
    (one) =>
      others.includes(one.id) ||
      (isWhole || showsIn === undefined ? ruleOf(one) === rule : one.id === showsIn),
  );
}

async function drillDevice(
  change: Partial<MiniDevice>,
  breaks: Partial<DeviceMutant>,
  index: number,
): Promise<DrillResult> {
  return drill({
    situations: situationsFor(breaks, index),
    access: breaks.tls ? { tls: await createCertificate(['127.0.0.1']) } : {},
    clock,
    signal,
    deviceTimeoutMs: 10_000,
    parallel: 50,
    start: miniDevice(change, clock),
    device: undefined,
  });
}

const results = new Map<unknown, DrillResult>();

beforeAll(async () => {
  const cases = [
    { change: lawfulDevice },
    { change: stuck, rule: 'D9' },
    { change: mute, rule: 'D5', showsIn: 'D5' },
    ...deviceMutants,
  ];
  const all = Promise.all(
    cases.map(async (one, index) => results.set(one.change, await drillDevice(one.change, one, index))),
  );
  await hasten(clock, all);
}, 300_000);

/** A device that presents the token of its first connection for ever. */
const stuck: Partial<MiniDevice> = { keepsToken: () => true };

/** A device whose microphone is off. */
const mute: Partial<MiniDevice> = { hushMs: () => 60_000 };

const verdictsOf = (change: unknown, verdict: string) =>
  (results.get(change)?.drilled ?? [])
    .filter(({ finding }) => finding.verdict === verdict)
    .map(({ id, finding }) => `${id}: ${finding.message}`);

test('the unchanged device passes every situation', () => {
  const others = results.get(lawfulDevice)?.drilled.filter(({ finding }) => finding.verdict !== 'pass') ?? [];
  expect(others.map(({ id, finding }) => `${id} ${finding.verdict} ${finding.message}`)).toEqual([
    'D14-name skipped needs --tls',
    'D14-untrusted skipped needs --tls',
  ]);
});

test('every rule has a mutant', () => {
  const rules = drillRules.map(({ id }) => id);
  expect(rules.filter((id) => !deviceMutants.some(({ rule }) => rule === id))).toEqual([]);
});

describe('a device that breaks one rule', () => {
  test.each(deviceMutants)('$rule: it $does', ({ rule, change, also = [] }) => {
    const failed = verdictsOf(change, 'fail');
    expect(failed.filter((one) => one.startsWith(rule))).not.toEqual([]);
    expect(failed.filter((one) => ![rule, ...also].includes(one.split(/[-:]/)[0] ?? ''))).toEqual([]);
  });
});

test('a device with a silent microphone is warned', () => {
  expect(verdictsOf(mute, 'warn')).toEqual([expect.stringMatching(/^D5: no audio in \d\d\.\d s$/)]);
});

test('a device that never requests a second token is not waited for at each interruption', () => {
  const interrupted = results.get(stuck)?.drilled.filter(({ id }) => /^D9-(?!503)/.test(id)) ?? [];
  expect(interrupted.length).toBeGreaterThan(5);
  for (const { finding, elapsedMs } of interrupted) {
    expect(finding).toMatchObject({
      verdict: 'fail',
      message: 'it presented the same token 3 times, and did not request a new one',
    });
    expect(elapsedMs).toBeLessThan(10_000);
  }
});

import { expect, test } from 'vitest';
import { drill } from '../../../src/conformance/drill/drill.ts';
import { isStreaming } from '../../../src/conformance/drill/moments.ts';
import type { Situation, StartDevice } from '../../../src/conformance/drill/situation.ts';
import { tokenPath } from '../../../src/protocol/paths.ts';
import { shownTokens } from '../../../src/rules/device/device-seen.ts';
import { fail, pass } from '../../../src/rules/rule.ts';
import { hasten } from '../../helpers/hasten.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { type MiniDevice, miniDevice } from '../../helpers/mini-device.ts';

/** A situation that a device passes as soon as it requests a token. */
const asking = (id: string, change: Partial<Situation> = {}): Situation => ({
  id,
  title: `situation ${id}`,
  until: ({ seen }) => seen.length > 0,
  longest: { ms: 10_000 },
  judge: ({ seen }) => pass('it came', seen),
  ...change,
});

/** The verdicts on a device that ends without a request in the situations of these numbers. */
async function drilled(
  situations: readonly Situation[],
  awayIn: readonly number[] = [],
  change: Partial<MiniDevice> = {},
) {
  const clock = createManualClock();
  const present = miniDevice(change, clock);
  let starts = 0;
  const start: StartDevice = async (address) => {
    starts += 1;
    if (!awayIn.includes(starts)) return present(address);
    return { ended: Promise.resolve(0), stop: () => {}, kill: async () => {}, output: () => [] };
  };
  const drilling = drill({
    ...{ situations, clock, start, access: {}, device: undefined, parallel: 1, deviceTimeoutMs: 10_000 },
    signal: new AbortController().signal,
  });
  const { drilled, stopped } = await hasten(clock, drilling);
  return {
    verdicts: drilled.map(({ finding }) => finding.verdict),
    rules: drilled.map(({ id, finding }) => `${id} ${finding.verdict}`),
    stopped: stopped?.code,
  };
}

const five = ['D1', 'D6', 'D7', 'D14', 'D17'].map((id) => asking(id));

test.each([
  [[2, 4], ['pass', 'unknown', 'pass', 'unknown', 'pass'], undefined],
  [[2, 3], ['pass', 'unknown', 'unknown', 'skipped', 'skipped'], 'timed-out'],
  [[1], ['unknown', 'skipped', 'skipped', 'skipped', 'skipped'], 'timed-out'],
])(
  'a device that is away in situations %j ends the drill only if it stays away',
  async (away, verdicts, stopped) => {
    expect(await drilled(five, away)).toMatchObject({ verdicts, stopped });
  },
);

test.each([
  ['fail', fail('it was wrong anyway', [])],
  ['unknown', pass('nothing happened', [])],
])('a situation that could not be created counts only against a device: %s', async (verdict, finding) => {
  const steps = [{ when: () => false, do: { stop: 'device' } }] as const;
  const { verdicts } = await drilled([asking('D6', { steps, judge: () => finding })]);
  expect(verdicts).toEqual([verdict]);
});

test('a device that cannot be started ends the drill, and first the other devices', async () => {
  const clock = createManualClock();
  const present = miniDevice({}, clock);
  const running = new Set<number>();
  let starts = 0;
  const start: StartDevice = async (address) => {
    starts += 1;
    const number = starts;
    if (number === 4) throw new Error('no more memory');
    if (number < 3) return present(address);
    running.add(number);
    return {
      ended: new Promise(() => {}),
      stop() {},
      kill: async () => void running.delete(number),
      output: () => [],
    };
  };
  const drilling = drill({
    ...{
      situations: five,
      clock,
      start,
      access: {},
      device: undefined,
      parallel: 2,
      deviceTimeoutMs: 10_000,
    },
    signal: new AbortController().signal,
  });
  await expect(hasten(clock, drilling)).rejects.toThrow('no more memory');
  expect([starts, [...running]]).toEqual([4, []]);
});

test.skipIf(process.getuid?.() !== 0)('a drill keeps the port 80 that it was given', async () => {
  const ports: string[] = [];
  const clock = createManualClock();
  const drilling = drill({
    ...{ situations: five.slice(0, 2), clock, start: undefined, access: { port: 80 }, device: undefined },
    ...{ parallel: 1, deviceTimeoutMs: 10_000, signal: new AbortController().signal },
    onListening({ baseUrl }) {
      ports.push(baseUrl);
      fetch(`${baseUrl}${tokenPath()}`, { method: 'POST' }).catch(() => {});
    },
  });
  await hasten(clock, drilling);
  expect(ports).toEqual(['http://127.0.0.1:80', 'http://127.0.0.1:80']);
});

test('a token that is presented twice, and audio before the confirmation, are reported in every situation', async () => {
  const restart = asking('D9-1012', {
    steps: [{ when: isStreaming, do: { fault: { name: 'close', code: 1012, times: 1 } } }],
    until: ({ seen }) => shownTokens(seen).length > 1,
  });
  const { rules } = await drilled([restart], [], { keepsToken: () => true, isHasty: true });
  expect(rules).toEqual(['D9-1012 pass', 'D3 fail', 'D4 fail']);
});

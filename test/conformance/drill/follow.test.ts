import { expect, test } from 'vitest';
import { followSituation, longestMsOf } from '../../../src/conformance/drill/follow.ts';
import type { Situation, StartDevice } from '../../../src/conformance/drill/situation.ts';
import { openStage } from '../../../src/conformance/drill/stage.ts';
import { tokenPath } from '../../../src/protocol/paths.ts';
import { hastyClock as clock, hasten } from '../../helpers/hasten.ts';

/** A situation that lasts as long as it may. */
const lasting = (change: Pick<Situation, 'longest'> & Partial<Situation>): Situation => ({
  id: 'D3',
  title: 'a situation',
  until: () => false,
  judge: () => ({ verdict: 'pass', message: '', evidence: [] }),
  ...change,
});

const start = async () => Promise.reject(new Error('not started'));

test.each([
  ['a command has the time of the situation', { longest: { ms: 30_000 }, start, lasts: 30_000 }],
  [
    'a device that connects by itself may pause longer after the failures before',
    { longest: { ms: 30_000 }, start: undefined, lasts: 60_000 },
  ],
  ['a long situation stays long', { longest: { ms: 90_000 }, start: undefined, lasts: 90_000 }],
  ['some depend on the patience of the device', { longest: { deviceTimeouts: 2 }, start, lasts: 120_000 }],
])('%s', (_what, { longest, start: begin, lasts }) => {
  expect(longestMsOf({ longest }, { deviceTimeoutMs: 60_000, start: begin })).toBe(lasts);
});

test('what a device has to notice begins with the step, not with the device', async () => {
  const begunAt = clock.now();
  const situation = lasting({
    steps: [{ when: ({ now }) => now - begunAt >= 3_000, do: { status: 'listening' } }],
    longest: { deviceTimeouts: 1.25 },
  });
  const stage = await openStage({ situation, access: {}, clock, device: undefined, onChange: () => {} });
  const begin: StartDevice = async ({ baseUrl }) => {
    await fetch(`${baseUrl}${tokenPath()}`, { method: 'POST' });
    return { ended: new Promise(() => {}), stop() {}, kill: async () => {}, output: () => [] };
  };
  const { view } = await hasten(
    clock,
    followSituation({
      ...{ situation, stage, clock, start: begin, deviceTimeoutMs: 5_000 },
      ...{ signal: new AbortController().signal, onStopNeeded() {}, onReady() {} },
    }),
  ).finally(stage.close);
  expect(view.now - (view.done[0] ?? 0)).toBeGreaterThanOrEqual(6_250);
});

test('a device that is started again is rid of first, with all that it left, and is looked at as long', async () => {
  const situation = lasting({ restarts: true, longest: { ms: 60_000 } });
  const stage = await openStage({ situation, access: {}, clock, device: undefined, onChange: () => {} });
  const log: string[] = [];
  const endedAt: number[] = [];
  const begin: StartDevice = async ({ baseUrl }) => {
    const number = endedAt.length + 1;
    log.push(`start ${number}`);
    await fetch(`${baseUrl}${tokenPath()}`, { method: 'POST' });
    endedAt.push(clock.now());
    return {
      ended: Promise.resolve(0),
      stop() {},
      kill: async () => void log.push(`kill ${number}`),
      output: () => [],
    };
  };
  const { view } = await hasten(
    clock,
    followSituation({
      ...{ situation, stage, clock, start: begin, deviceTimeoutMs: 60_000 },
      ...{ signal: new AbortController().signal, onStopNeeded() {}, onReady() {} },
    }),
  ).finally(stage.close);
  expect(log).toEqual(['start 1', 'kill 1', 'start 2']);
  expect(view.now - (endedAt[1] ?? 0)).toBeGreaterThanOrEqual(500);
});

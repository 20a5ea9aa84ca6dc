import { setImmediate } from 'node:timers/promises';
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
  [
    'a command that has to notice a loss may take its own time for that, and then as long as usual to come back',
    { longest: { ms: 30_000, notices: true as const }, start, lasts: 90_000 },
  ],
  [
    'a device that connects by itself may pause longer after it',
    { longest: { ms: 30_000, notices: true as const }, start: undefined, lasts: 120_000 },
  ],
])('%s', (_what, { longest, start: begin, lasts }) => {
  expect(longestMsOf({ longest }, { deviceTimeoutMs: 60_000, start: begin })).toBe(lasts);
});

test('what a device has to notice begins with the step, not with the device', async () => {
  const begunAt = clock.now();
  const situation = lasting({
    steps: [{ when: ({ now }) => now - begunAt >= 3_000, do: { status: 'listening' } }],
    longest: { ms: 1_000, notices: true },
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
  expect(view.now - (view.done[0] ?? 0)).toBeGreaterThanOrEqual(6_000);
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

test('what a device that does not count does brings no situation to its end', async () => {
  const situation = lasting({ until: () => true, longest: { ms: 30_000 } });
  const stage = await openStage({ situation, access: {}, clock, device: 'lamp', onChange: () => {} });
  const request = (deviceId: string) =>
    fetch(`${stage.address.baseUrl}${tokenPath()}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey: 'k', deviceId }),
    });
  let isOver = false;
  let look = () => {};
  const followed = followSituation({
    ...{ situation, stage, clock, start: undefined, deviceTimeoutMs: 60_000 },
    ...{ signal: new AbortController().signal, onStopNeeded() {} },
    onReady(again) {
      look = again;
    },
  }).finally(() => {
    isOver = true;
  });
  try {
    await request('stranger');
    look();
    await setImmediate();
    expect(isOver).toBe(false);
    await request('lamp');
    look();
    expect(await followed).toMatchObject({ cameAtAll: true });
  } finally {
    await stage.close();
  }
});

import { expect, test } from 'vitest';
import type { WireMessage } from '../../src/wire/exchange.ts';
import { joinTaps, type Tap } from '../../src/wire/tap.ts';

const message: WireMessage = { at: 1, from: 'service', opcode: 'ping', bytes: 0 };

function listen(heard: string[], name: string): Tap {
  return {
    opened: () => heard.push(`${name} opened`),
    message: ({ opcode }) => heard.push(`${name} ${opcode}`),
  };
}

test('joined taps are called in order, and missing ones are skipped', () => {
  const heard: string[] = [];
  const tap = joinTaps(listen(heard, 'first'), undefined, {}, listen(heard, 'second'));
  tap.message?.(message);
  tap.closed?.({ at: 2, by: 'device', code: 1000, reason: '', breakdown: undefined });
  expect(heard).toEqual(['first ping', 'second ping']);
});

test('joined taps are ready when all of them are', async () => {
  let release = () => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const heard: string[] = [];
  expect(joinTaps({}, { ready: () => undefined }).ready?.()).toBeUndefined();
  const ready = joinTaps({ ready: () => slow }, { ready: () => Promise.resolve() }).ready?.();
  void ready?.then(() => heard.push('ready'));
  await Promise.resolve();
  heard.push('released');
  release();
  await ready;
  expect(heard).toEqual(['released', 'ready']);
});

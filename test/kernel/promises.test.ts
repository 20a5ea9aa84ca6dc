import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { abortable, whenAborted } from '../../src/kernel/promises.ts';

test('a promise that settles first gives the result, and nothing listens to the signal any more', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const counted = {
    get aborted() {
      return signal.aborted;
    },
    addEventListener: () => {
      listeners += 1;
    },
    removeEventListener: () => {
      listeners -= 1;
    },
  } as unknown as AbortSignal;
  expect(await abortable(Promise.resolve(7), counted)).toBe(7);
  await expect(abortable(Promise.reject(new Error('no')), counted)).rejects.toThrow('no');
  expect(listeners).toBe(0);
});

test('an abort that comes first rejects with its reason', async () => {
  const ending = new AbortController();
  const waiting = abortable(new Promise(() => {}), ending.signal);
  ending.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test.each(['before', 'after'])(
  'a promise that fails when nobody waits any more harms nobody: aborted %s',
  async (when) => {
    const unhandled: unknown[] = [];
    const note = (thrown: unknown) => unhandled.push(thrown);
    process.on('unhandledRejection', note);
    const ending = new AbortController();
    let fail = (_: Error) => {};
    const promise = new Promise((_, reject) => {
      fail = reject;
    });
    if (when === 'before') ending.abort(new Error('enough'));
    const waiting = abortable(promise, ending.signal);
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    fail(new Error('late'));
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  },
);

test('a signal keeps no listeners of settled promises', async () => {
  const { signal } = new AbortController();
  await abortable(Promise.resolve(), signal);
  await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([true, false])(
  'whoever waits for an abort goes on with it: aborted before %j',
  async (isBefore) => {
    const ending = new AbortController();
    if (isBefore) ending.abort();
    const waiting = whenAborted(ending.signal);
    if (!isBefore) ending.abort();
    await expect(waiting).resolves.toBeUndefined();
  },
);

import { channel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { warmUp } from '../../../src/runs/load/generate.ts';

const target = {
  ...{ baseUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1', apiVersion: undefined },
  ...{ apiKey: 'canary-key', ca: undefined },
};
const times = { giveUpMs: 5_000 } as Parameters<typeof warmUp>[0]['times'];

/** The lengths of what servers of this process were sent. */
let arrived: (string | undefined)[] = [];
const started = channel('http.server.request.start');
const note = (message: unknown) => {
  const { request } = message as { request: { headers: Record<string, string | undefined> } };
  arrived.push(request.headers['content-length']);
};
beforeEach(() => {
  arrived = [];
  started.subscribe(note);
});
afterEach(() => void started.unsubscribe(note));

const warm = (forMs: number, signal = new AbortController().signal) =>
  warmUp({ clock: systemClock, target, signal, times }, systemClock.now() + forMs);

describe('a warm-up', () => {
  test('requests tokens from itself, without the key', async () => {
    await warm(60_000);
    expect(arrived).toHaveLength(40);
    const body = JSON.stringify({ apiKey: 'none', deviceId: 'none' });
    expect(new Set(arrived)).toEqual(new Set([`${body.length}`]));
  });

  test('ends in time for the run', async () => {
    await warm(0);
    expect(arrived).toEqual([]);
  });

  test('ends with the run', async () => {
    await warm(60_000, AbortSignal.abort(new Error('ended')));
    expect(arrived).toEqual([]);
  });
});

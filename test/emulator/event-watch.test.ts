import { expect, onTestFinished, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

const startEmulator = setUpEmulators();

test('on calls the listener for each event of its type, until it is stopped', async () => {
  const emulator = await startEmulator();
  const devices: string[] = [];
  const off = emulator.on('token-issued', ({ device }) => devices.push(device));
  await emulator.token('d1');
  await emulator.requestToken('');
  await emulator.token('d2');
  off();
  await emulator.token('d3');
  expect(devices).toEqual(['d1', 'd2']);
});

test('what a listener throws reaches the test runner, and not the device', async () => {
  const uncaught = catchUncaught();
  const emulator = await startEmulator({ reply: 'echo' });
  for (const type of ['token-issued', 'stream-opened', 'stream-authorised'] as const)
    emulator.on(type, () => {
      throw new Error(`not this ${type}`);
    });
  const client = await emulator.connect('d1');
  client.socket.close(1000);
  expect((await client.closed).code).toBe(1000);
  expect(uncaught.map(String)).toEqual([
    'Error: not this token-issued',
    'Error: not this stream-opened',
    'Error: not this stream-authorised',
  ]);
  expect(emulator.events.map(({ type }) => type)).not.toContain('bug');
});

test('waitFor rejects with what its predicate throws, for a past or a future event', async () => {
  const emulator = await startEmulator();
  const compare = () => {
    throw new Error('expected 1 to be 2');
  };
  const future = emulator.waitFor('token-issued', compare);
  const rejected = expect(future).rejects.toThrow('expected 1 to be 2');
  await emulator.token('d1');
  await rejected;
  await expect(emulator.waitFor('token-issued', compare)).rejects.toThrow('expected 1 to be 2');
});

test('waitFor finds a past event, or else the next that matches', async () => {
  const emulator = await startEmulator();
  await emulator.token('d1');
  expect(await emulator.waitFor('token-issued')).toMatchObject({ device: 'd1' });
  const later = emulator.waitFor('token-issued', ({ device }) => device === 'd3');
  await emulator.token('d2');
  await emulator.token('d3');
  expect(await later).toMatchObject({ device: 'd3' });
});

test('waitFor ignores events from before a reset', async () => {
  const emulator = await startEmulator();
  await emulator.token('d1');
  emulator.control.reset();
  const next = emulator.waitFor('token-issued');
  await emulator.token('d2');
  expect(await next).toMatchObject({ device: 'd2' });
});

test('waitFor rejects when its signal aborts', async () => {
  const emulator = await startEmulator();
  const stop = new AbortController();
  const waiting = emulator.waitFor('turn-ended', undefined, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  const { signal } = stop;
  await expect(emulator.waitFor('turn-ended', undefined, { signal })).rejects.toThrow('enough');
});

test('waitFor rejects when the emulator has closed, but still finds past events', async () => {
  const emulator = await createEmulator();
  const never = emulator.waitFor('turn-ended');
  const stopping = emulator.waitFor('stopping');
  await emulator.close();
  expect(await stopping).toMatchObject({ type: 'stopping' });
  await expect(never).rejects.toMatchObject({ code: 'interrupted' });
  await expect(emulator.waitFor('turn-ended')).rejects.toMatchObject({ code: 'interrupted' });
  expect(await emulator.waitFor('listening')).toMatchObject({ baseUrl: emulator.baseUrl });
});

test('waitFor refuses a type that does not exist', async () => {
  const emulator = await startEmulator();
  const waiting = emulator.waitFor('turn-end' as never);
  await expect(waiting).rejects.toMatchObject({
    code: 'usage',
    message: 'There is no event of type turn-end, did you mean turn-ended?',
  });
});

test('on refuses a type that does not exist, and what is not a function', async () => {
  const { on } = await startEmulator();
  expect(() => on('turn-end' as never, () => {})).toThrow('There is no event of type turn-end');
  expect(() => on('turn-ended', undefined as never)).toThrow('the listener must be a function');
});

test.each([
  ['an option that does not exist', { timeout: 5 }, 'unknown option timeout'],
  ['a time limit that is no number', { timeoutMs: '5s' }, 'timeoutMs is "5s"'],
])('waitFor refuses %s', async (_, options, message) => {
  const emulator = await startEmulator();
  await expect(emulator.waitFor('turn-ended', undefined, options as never)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message),
  });
});

test('waitFor rejects at its own time limit, and lists the last events', async () => {
  const clock = createManualClock();
  const emulator = await startEmulator({ clock });
  await emulator.token('d1');
  const waiting = emulator.waitFor('turn-ended', undefined, { timeoutMs: 2_000 });
  clock.advance(2_000);
  await expect(waiting).rejects.toMatchObject({
    code: 'timed-out',
    message: 'No event of type turn-ended within 2 s: the last events were listening, token-issued',
  });
});

/** Takes the uncaught errors of this test, in place of the test runner. */
function catchUncaught(): unknown[] {
  const uncaught: unknown[] = [];
  const runner = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of runner) process.on('uncaughtException', listener);
  });
  return uncaught;
}

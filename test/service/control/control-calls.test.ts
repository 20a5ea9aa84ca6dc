import { expect, test } from 'vitest';
import type { EmulatorControl } from '../../../src/service/control/emulator-control.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';

const startEmulator = setUpEmulators();

/** Calls as a program in JavaScript may make them. */
type AnyCalls = Record<'send' | 'speak' | 'event' | 'close' | 'advance', (...args: unknown[]) => unknown>;
type Call = (control: AnyCalls) => unknown;
const circular: Record<string, unknown> = {};
circular.self = circular;

test.each<[Call, string]>([
  [(control) => control.close(), 'control.close: selector is missing, expected object'],
  [(control) => control.close({ streams: 1 }), 'control.close: selector.streams: no such setting'],
  [(control) => control.close({}, '1012'), 'control.close: code is "1012", expected number'],
  [(control) => control.close({}, 1012, null), 'control.close: reason is null, expected string'],
  [(control) => control.close({}, 1004), 'Close code 1004 cannot be sent'],
  [(control) => control.close({ stream: 99 }, 1004), 'Close code 1004 cannot be sent'],
  [(control) => control.advance('5000'), 'control.advance: advanceMs is "5000", expected number'],
  [
    (control) => control.advance(Number.POSITIVE_INFINITY),
    'control.advance: advanceMs is Infinity, expected number',
  ],
  [(control) => control.advance(-1), 'control.advance: advanceMs is -1, expected number to be >=0'],
  [(control) => control.send({}), 'control.send: message is missing, expected object'],
  [
    (control) => control.send({}, {}),
    'control.send: message is (an object), expected exactly one of status, error and json',
  ],
  [
    (control) => control.send({}, { status: 'foo' }),
    'control.send: message.status is "foo", expected one of "listening", "speaking"',
  ],
  [
    (control) => control.send({}, { error: { code: 'X' } }),
    'control.send: message.error.message is missing, expected string',
  ],
  [
    (control) => control.send({}, { json: circular }),
    'control.send: message.json is (an object), expected a value that JSON can hold',
  ],
  [(control) => control.event({}, 5), 'control.event: name is 5, expected string'],
  [(control) => control.speak({}, 'hello.wav'), 'PCM must be a Buffer, Uint8Array or Int16Array, not String'],
  [
    (control) => control.speak({ device: 5 }, Buffer.alloc(2)),
    'control.speak: selector.device is 5, expected string',
  ],
])('%s is refused, and the stream goes on', async (call, message) => {
  const { control, connect } = await startEmulator({ reply: 'silence' });
  const client = await connect();
  const act = () => call(control as unknown as AnyCalls);
  expect(act).toThrow(expect.objectContaining({ code: 'usage', message }));
  expect((control satisfies EmulatorControl).send({}, { json: 'still here' })).toEqual([1]);
  await client.until(() => client.messages.includes('still here' as never));
});

test.each([
  ['bytes', new Uint8Array(640).fill(1)],
  ['samples', new Int16Array(320).fill(257)],
])('PCM is spoken as %s too', async (_name, pcm) => {
  const { control, connect } = await startEmulator({ reply: 'silence' });
  const client = await connect();
  control.speak({}, pcm);
  await client.until(() => client.audio.length === 640);
  expect(client.audio).toEqual(Buffer.alloc(640, 1));
});

test('a close without a code is a normal one, and needs no reason', async () => {
  const { control, connect } = await startEmulator({ reply: 'silence' });
  const client = await connect();
  control.close({});
  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  const next = await connect();
  control.close({}, 1012);
  expect(await next.closed).toEqual({ code: 1012, reason: '' });
});

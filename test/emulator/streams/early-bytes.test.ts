import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createEarlyBytes } from '../../../src/emulator/streams/early-bytes.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';

const startEmulator = setUpEmulators();

/** A connection that notes why it was closed. */
function fake(early: ReturnType<typeof createEarlyBytes>) {
  const transport = new EventEmitter();
  const socket = new EventEmitter();
  const done: string[] = [];
  const stop = early.watch(
    {
      socket: socket as never,
      close: (cause) => done.push(cause),
      stopReading: () => done.push('unread'),
    },
    transport as Socket,
  );
  const send = (bytes: number) => transport.emit('data', Buffer.alloc(bytes));
  return { socket, done, stop, send };
}

const kib = 1024;

describe('what is received before the token', () => {
  test('may be the audio that is held, a token and their framing, and no more', () => {
    const connection = fake(createEarlyBytes(256 * kib));
    connection.send((256 + 4 + 64) * kib);
    expect(connection.done).toEqual([]);
    connection.send(1);
    expect(connection.done).toEqual(['earlyAudioOverflow', 'unread']);
    connection.send(1);
    expect(connection.done).toHaveLength(2);
  });

  test('is bounded for all connections together, and released when one is authorised or gone', () => {
    const early = createEarlyBytes(256 * kib);
    const connections = Array.from({ length: 32 }, () => fake(early));
    for (const { send } of connections) send(256 * kib);
    expect(connections.flatMap(({ done }) => done)).toEqual([]);
    const late = fake(early);
    late.send(1);
    expect(late.done).toEqual(['earlyAudioOverflow', 'unread']);
    late.socket.emit('close');
    connections[0]?.stop();
    connections[1]?.socket.emit('close');
    const next = fake(early);
    next.send(256 * kib);
    next.send(64 * kib);
    expect(next.done).toEqual([]);
  });

  test('of one connection may be all that the dialect allows, in frames of 20 ms', () => {
    const connection = fake(createEarlyBytes(16 * 1024 * kib));
    for (let sent = 0; sent < 16 * 1024 * kib; sent += 640) connection.send(640 + 8);
    expect(connection.done).toEqual([]);
  });

  test('is no longer counted once the token was accepted', () => {
    const connection = fake(createEarlyBytes(256 * kib));
    connection.stop();
    connection.send(10_000 * kib);
    expect(connection.done).toEqual([]);
  });
});

test.each([1, 2])(
  'an unfinished message before the token (opcode %i) is closed long before it is whole',
  async (opcode) => {
    const emulator = await startEmulator();
    const client = emulator.open();
    await client.opened;
    const raw = (client.socket as unknown as { _socket: Socket })._socket;
    const head = Buffer.from([0x80 | opcode, 0xff, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0]);
    raw.write(head);
    raw.write(Buffer.alloc(600 * kib));
    expect(await emulator.event('stream-closed')).toMatchObject({ cause: 'earlyAudioOverflow' });
    expect(client.messages).toMatchObject([{ error: { code: 'TOO_MUCH_AUDIO_BEFORE_TOKEN' } }]);
  },
);

test('the longest allowed message is heard after the token', async () => {
  const emulator = await startEmulator({ reply: 'silence' });
  const client = await emulator.connect('d');
  client.socket.send(Buffer.alloc(1024 * kib));
  client.socket.close();
  expect(await emulator.event('stream-closed')).toMatchObject({ bytesIn: 1024 * kib, code: 1005 });
});

import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { UnfinishedMessages } from '../../../src/wire/server/unfinished.ts';

const MiB = 1024 * 1024;

test('parts of a message are freed with their stream, even if the socket is kept for longer', async ({
  onTestFinished,
}) => {
  const server = createServer();
  const streams = new WebSocketServer({ server, perMessageDeflate: false });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const unfinished = new UnfinishedMessages();
  const device = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[stream, request]] = (await Promise.all([once(streams, 'connection'), once(device, 'open')])) as [
    [WebSocket, { socket: Socket }],
    unknown,
  ];
  unfinished.watch(stream, request.socket, () => {});
  const head = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0]);
  const transport = (device as unknown as { _socket: Socket })._socket;
  transport.write(Buffer.concat([head, Buffer.alloc(MiB)]));
  const { _receiver: receiver } = stream as unknown as {
    _receiver: { _bufferedBytes: number; _buffers: Buffer[] };
  };
  await expect.poll(() => receiver._bufferedBytes).toBe(MiB);
  const closed = once(stream, 'close');
  device.terminate();
  await closed;
  expect([receiver._bufferedBytes, receiver._buffers]).toEqual([0, []]);
});

test.each([
  [33, 1, 1],
  [32, 16, 0],
  [64, 64, 0],
  [129, 64, 1],
])('%i MiB of a message, if one may have %j MiB, close %i streams', (heldMiB, mostMiB, count) => {
  const unfinished = new UnfinishedMessages(mostMiB * MiB);
  const transport = Object.assign(new EventEmitter(), { pause() {} });
  const parts = { _bufferedBytes: heldMiB * MiB - 128, _buffers: [Buffer.alloc(0)], _fragments: [] };
  const socket = Object.assign(new EventEmitter(), { _receiver: { ...parts, _messageLength: 0 } });
  const closed: string[] = [];
  unfinished.watch(socket as never, transport as never, (why) => closed.push(why));
  transport.emit('data', Buffer.alloc(0));
  expect(closed).toHaveLength(count);
});

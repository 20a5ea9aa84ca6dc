import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { endTransport } from '../../../src/service/streams/open-stream.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { setUpServices } from '../../helpers/services.ts';

const services = setUpServices();

/** The two ends of a stream whose peer reads nothing, with more sent than the system takes. */
async function openUnread() {
  let accept: (accepted: [WebSocket, IncomingMessage]) => void;
  const accepted = new Promise<[WebSocket, IncomingMessage]>((resolve) => {
    accept = resolve;
  });
  const peer = new WebSocket(await services.ws((socket, request) => accept([socket, request])));
  await once(peer, 'open');
  peer.pause();
  const [socket, { socket: transport }] = await accepted;
  const piece = Buffer.alloc(1024 * 1024);
  while (transport.writableLength < 4 * piece.length) {
    socket.send(piece);
    await new Promise(setImmediate);
  }
  return { peer, socket, transport };
}

test('a connection that ends without a close frame is cut 2 s later, if its peer does not read', async () => {
  const { peer, socket, transport } = await openUnread();
  const clock = createManualClock();
  endTransport(socket, transport, clock);
  clock.advance(1_999);
  await new Promise(setImmediate);
  expect(transport.destroyed).toBe(false);
  clock.advance(1);
  await once(socket, 'close');
  expect(transport.destroyed).toBe(true);
  peer.terminate();
});

test('a connection that ends without a close frame ends once its peer has read everything', async () => {
  const { peer, socket, transport } = await openUnread();
  let bytes = 0;
  peer.on('message', (data: Buffer) => {
    bytes += data.length;
  });
  endTransport(socket, transport, createManualClock());
  peer.resume();
  const [code] = await once(peer, 'close');
  expect(code).toBe(1006);
  expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
  expect(bytes % (1024 * 1024)).toBe(0);
});

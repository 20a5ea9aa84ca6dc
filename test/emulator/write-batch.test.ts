import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createWriteBatch } from '../../src/emulator/write-batch.ts';

/** A socket that counts how often the system would be called, and with how many pieces each time. */
function countingSocket() {
  const calls: number[] = [];
  const socket = new Writable({
    write: (_chunk, _encoding, done) => {
      calls.push(1);
      done();
    },
    writev: (chunks, done) => {
      calls.push(chunks.length);
      done();
    },
  });
  return { calls, socket: socket as unknown as Socket };
}

/** A turn of the event loop that ends when it is told to. */
function createTurn() {
  const calls: (() => void)[] = [];
  return {
    atEnd: (call: () => void) => void calls.push(call),
    end() {
      for (const call of calls.splice(0)) call();
    },
    calls,
  };
}

test('what a socket is sent in one turn leaves in one write at its end', () => {
  const turn = createTurn();
  const writes = createWriteBatch(turn.atEnd);
  const { calls, socket } = countingSocket();
  for (let frame = 0; frame < 10; frame += 1) {
    writes.hold(socket);
    socket.write(Buffer.alloc(640));
  }
  expect(calls).toEqual([]);
  turn.end();
  expect(calls).toEqual([10]);
});

test('a turn has one end, however many sockets wait for it, and the next turn has its own', () => {
  const turn = createTurn();
  const writes = createWriteBatch(turn.atEnd);
  const sockets = Array.from({ length: 100 }, countingSocket);
  for (let round = 1; round <= 2; round += 1) {
    for (const { socket } of sockets) {
      writes.hold(socket);
      socket.write(Buffer.alloc(640));
    }
    expect(turn.calls).toHaveLength(1);
    turn.end();
    for (const { calls } of sockets) expect(calls).toHaveLength(round);
  }
});

test('more than 64 KiB do not wait for the end of the turn', () => {
  const turn = createTurn();
  const writes = createWriteBatch(turn.atEnd);
  const { calls, socket } = countingSocket();
  for (let message = 0; message < 3; message += 1) {
    writes.hold(socket);
    socket.write(Buffer.alloc(64 * 1024));
  }
  expect(calls).toEqual([1, 1]);
  turn.end();
  expect(calls).toEqual([1, 1, 1]);
});

test('what was released leaves at once, and the end of the turn does no harm to it', () => {
  const turn = createTurn();
  const writes = createWriteBatch(turn.atEnd);
  const { calls, socket } = countingSocket();
  writes.hold(socket);
  socket.write(Buffer.alloc(2));
  writes.release(socket);
  expect(calls).toEqual([1]);
  socket.cork();
  socket.write(Buffer.alloc(2));
  turn.end();
  expect(calls).toEqual([1]);
});

test('by itself a batch leaves before a timer that is due later', async () => {
  const writes = createWriteBatch();
  const { calls, socket } = countingSocket();
  writes.hold(socket);
  socket.write(Buffer.alloc(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([1]);
});

test('a socket that is gone by the end of the turn is passed over', () => {
  const turn = createTurn();
  const writes = createWriteBatch(turn.atEnd);
  const gone = new Socket();
  const { calls, socket } = countingSocket();
  for (const one of [gone, socket]) writes.hold(one);
  socket.write(Buffer.alloc(2));
  gone.destroy();
  turn.end();
  expect(calls).toEqual([1]);
});

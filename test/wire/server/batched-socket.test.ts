import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { BatchedSocket } from '../../../src/wire/server/batched-socket.ts';

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

const header = Buffer.from([0x82, 2]);

/** An event that has been dealt with when it is told to be. */
function createEvent() {
  const calls: (() => void)[] = [];
  return {
    atEnd: <Subject>(call: (subject: Subject) => void, subject: Subject) =>
      void calls.push(() => call(subject)),
    end() {
      for (const call of calls.splice(0)) call();
    },
    calls,
  };
}

test('what is sent during one event leaves in one write, and what is sent during the next in another', () => {
  const event = createEvent();
  const { calls, socket } = countingSocket();
  const batched = new BatchedSocket(socket, event.atEnd);
  for (let round = 1; round <= 2; round += 1) {
    for (let frame = 0; frame < 10; frame += 1) batched.write(header, Buffer.alloc(640));
    expect(event.calls).toHaveLength(1);
    event.end();
    expect(calls).toEqual(Array(round).fill(20));
  }
});

test('64 KiB do not wait for the end of the event, and what comes after them does', () => {
  const event = createEvent();
  const { calls, socket } = countingSocket();
  const batched = new BatchedSocket(socket, event.atEnd);
  for (let message = 0; message < 3; message += 1) batched.write(header, Buffer.alloc(32 * 1024));
  expect(calls).toEqual([4]);
  event.end();
  expect(calls).toEqual([4, 2]);
});

test('released data leaves immediately, and the end of the event does not affect later data', () => {
  const event = createEvent();
  const { calls, socket } = countingSocket();
  const batched = new BatchedSocket(socket, event.atEnd);
  batched.write(header, Buffer.alloc(2));
  batched.release();
  expect(calls).toEqual([2]);
  socket.cork();
  socket.write(Buffer.alloc(2));
  event.end();
  expect(calls).toEqual([2]);
});

test('without a release it leaves before anything else is handled', async () => {
  const { calls, socket } = countingSocket();
  const other = new Promise<number[]>((resolve) => setImmediate(() => resolve([...calls])));
  new BatchedSocket(socket).write(header, Buffer.alloc(2));
  expect(calls).toEqual([]);
  expect(await other).toEqual([2]);
});

test('a socket that is gone by then causes no error', () => {
  const event = createEvent();
  const gone = new Socket().on('error', () => {});
  new BatchedSocket(gone, event.atEnd).write(header, Buffer.alloc(2));
  gone.destroy();
  expect(event.end).not.toThrow();
});

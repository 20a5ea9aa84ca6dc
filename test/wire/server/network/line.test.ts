import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { NetworkQuality } from '../../../../src/protocol/network.ts';
import { networkProfiles } from '../../../../src/protocol/network.ts';
import { type InFlightTotals, Line } from '../../../../src/wire/server/network/line.ts';
import { createCountedClock } from '../../../helpers/counted-clock.ts';

const MiB = 1024 * 1024;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Opened {
  device: Socket;
  /** The connection of the device, at the service. */
  inner: Socket;
  line: Line;
  read: () => number;
  closed: Promise<unknown>;
}

/** Connections of devices over lines of one network. */
async function network(quality: Partial<NetworkQuality>) {
  const clock = createCountedClock();
  const inFlight: InFlightTotals = { bytes: 0, ended: new Set() };
  const server = createServer({ allowHalfOpen: true });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => server.close());
  const { port } = server.address() as { port: number };
  return {
    clock,
    inFlight,
    async open(): Promise<Opened> {
      const device = connect(port, '127.0.0.1');
      device.on('error', () => {});
      const [inner] = (await once(server, 'connection')) as [Socket];
      closing.push(
        () => device.destroy(),
        () => inner.destroy(),
      );
      const line = new Line(inner, {
        ...{ clock, inFlight, roundTrips: 0 },
        quality: () => ({ ...networkProfiles.none, ...quality }),
        chances: { upload: () => 0.5, download: () => 0.5 },
      });
      line.on('error', () => {});
      let bytes = 0;
      line.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      return {
        device,
        inner,
        line,
        read: () => bytes,
        closed: new Promise((resolve) => line.once('close', resolve)),
      };
    },
  };
}

test('knows when bytes were sent, and how long their sender could not send', async () => {
  const { clock, open } = await network({ upload: 8_000 });
  const { device, line, read } = await open();
  device.write(Buffer.alloc(MiB));
  await expect.poll(() => line.bytes).toBeGreaterThan(64 * 1024);
  await clock.run(1_500);
  expect(read()).toBe(1_460);
  expect(line).toMatchObject({ heldMs: 1_500, lostMs: 0 });
});

test('knows how long an answer takes: both ways, a loss on each, and what waits', async () => {
  const quality = { latency: 100, jitter: 10, loss: 0.01, rate: 80_000 };
  const { open } = await network(quality);
  const { line } = await open();
  expect(line.roundTripMs).toBe(2 * (100 + 10 + 400));
  line.write(Buffer.alloc(10_000));
  expect(line.roundTripMs).toBeGreaterThanOrEqual(2 * (100 + 10 + 400) + 1_000);
  quality.rate = 0;
  expect((await (await network(quality)).open()).line.roundTripMs).toBe(0);
});

test('takes no more single bytes than it has memory for', async () => {
  const { open } = await network({ rate: 1_000 });
  const { line } = await open();
  for (let count = 0; count < 1_000; count += 1) line.write(Buffer.alloc(1));
  expect(line.writableLength).toBeGreaterThan(500);
  expect(line.bytes).toBeGreaterThan(64 * 1024);
});

test('says when what was written has reached the device', async () => {
  const { clock, open } = await network({ latency: 100 });
  const { line } = await open();
  line.write(Buffer.alloc(1_000));
  let isReached = false;
  line.whenReached(() => {
    isReached = true;
  });
  await new Promise(setImmediate);
  await clock.run(95);
  expect(isReached).toBe(false);
  await clock.run(5);
  expect(isReached).toBe(true);
});

test('what a device sent before it hung up arrives on time', async () => {
  const { clock, inFlight, open } = await network({ latency: 2_000 });
  const { device, line, read } = await open();
  device.end(Buffer.alloc(100_000));
  await expect.poll(() => inFlight.ended.size).toBe(1);
  expect(read()).toBe(0);
  const ended = once(line, 'end');
  await clock.run(2_000);
  await ended;
  expect(read()).toBe(100_000);
});

test('of the lines that have ended, the newest is cut if together they have more than 2 MiB under way', async () => {
  const { clock, inFlight, open } = await network({ latency: 60_000 });
  const lines = [];
  for (let at = 0; at < 6; at += 1) {
    const one = await open();
    one.device.write(Buffer.alloc(900_000));
    // With what each packet costs.
    await expect.poll(() => one.line.bytes).toBeGreaterThan(MiB * 0.95);
    lines.push(one);
  }
  expect(inFlight.bytes).toBeGreaterThan(5.7 * MiB);
  for (const { device, line } of lines) {
    device.end();
    await expect.poll(() => inFlight.ended.has(line) || line.destroyed).toBe(true);
  }
  expect(lines.map(({ line }) => line.destroyed)).toEqual([false, false, true, true, true, true]);
  expect(inFlight.bytes).toBeLessThan(2 * MiB);
  await clock.run(60_000, 1_000);
  for (const { line } of lines) line.end();
  await clock.run(60_000, 1_000);
  await Promise.all(lines.map(({ closed }) => closed));
  expect(lines.map(({ read }) => read())).toEqual([900_000, 900_000, 0, 0, 0, 0]);
  expect(inFlight.bytes).toBeLessThan(1_000);
});

test('what is under way in a connection that is reset is dropped with it', async () => {
  const { inFlight, open } = await network({ latency: 60_000 });
  const { device, read, closed } = await open();
  device.write(Buffer.alloc(100_000));
  await expect.poll(() => inFlight.bytes).toBeGreaterThan(100_000);
  device.resetAndDestroy();
  await closed;
  expect(read()).toBe(0);
  expect(inFlight.bytes).toBeLessThan(1_000);
});

test('a line whose device has gone ends within a minute, even if nothing passes', async () => {
  const { clock, inFlight, open } = await network({ upload: 0, rate: 0 });
  const { device, inner, line, closed } = await open();
  line.write(Buffer.alloc(1_000));
  device.end(Buffer.alloc(1_000));
  await expect.poll(() => inFlight.ended.has(line)).toBe(true);
  device.destroy();
  await clock.run(1_000);
  inner.destroy();
  await once(inner, 'close');
  expect(line.destroyed).toBe(false);
  await clock.run(60_000, 1_000);
  await closed;
  expect([line.bytes, inFlight.bytes, inFlight.ended.size]).toEqual([0, 0, 0]);
});

test.each([
  ['the device leaves', ({ device }: Opened) => device.destroy()],
  ['the service ends it', ({ line }: Opened) => line.destroy()],
  [
    'the service ends it, and the device leaves before it knows',
    ({ device, line }: Opened) => {
      line.destroy();
      device.destroy();
    },
  ],
])('a line is not kept when nothing of it is under way any more: %s', async (_, end) => {
  const { clock, inFlight, open } = await network({ latency: 1_000 });
  const opened = await open();
  opened.device.write(Buffer.alloc(10_000));
  opened.line.write(Buffer.alloc(10_000));
  await expect.poll(() => opened.line.bytes).toBeGreaterThan(20_000);
  end(opened);
  await expect.poll(() => inFlight.ended.size).toBe(1);
  await expect
    .poll(() =>
      clock.run(1_000, 100).then(() => [opened.line.destroyed, inFlight.ended.size, inFlight.bytes]),
    )
    .toEqual([true, 0, 0]);
});

test('a line over which nothing is under way ends with its connection, and waits for nothing', async () => {
  const { clock, inFlight, open } = await network({});
  const { inner, line, closed } = await open();
  inner.destroy();
  await closed;
  expect([line.destroyed, inFlight.ended.size, clock.pending]).toEqual([true, 0, []]);
});

test('what is sent to a device that has gone is not kept', async () => {
  const { inFlight, open } = await network({ latency: 60_000 });
  const { device, line } = await open();
  for (let at = 0; at < 4; at += 1) line.write(Buffer.alloc(MiB));
  expect(line.bytes).toBeGreaterThan(3.9 * MiB);
  device.resetAndDestroy();
  // What is left is the end itself.
  await expect.poll(() => line.bytes).toBeLessThan(1_000);
  for (let at = 0; at < 4; at += 1) line.write(Buffer.alloc(MiB));
  await expect.poll(() => Math.max(line.bytes, inFlight.bytes)).toBeLessThan(1_000);
});

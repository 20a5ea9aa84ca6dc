import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManualClock, type ManualClock } from './manual-clock.ts';

/** A frame of 20 ms at four times real time. */
const stepMs = 5;
/** What a socket of this process has read is answered within so many turns of the event loop. */
const turnsPerStep = 4;
/**
 * Bytes that nobody has read after so many looks, a millisecond and more apart, are not going to be: their reader has
 * paused. They are counted: a process that the machine stops for a while comes back to few looks and much time.
 */
const mostLooks = 100;
/** Now and then the machine is given real time, for what it does beside the event loop. */
const breathEveryMs = 50;

/** Time that the tests of a file and their services share. It starts now, and only passes while something is hastened. */
export const hastyClock: ManualClock = createManualClock(Date.now());

/** How much is under way on each clock: all of it shares the time that passes. */
const works = new WeakMap<ManualClock, number>();
/** The clocks that are being moved: work that begins as another ends must not have two that move it. */
const moved = new WeakSet<ManualClock>();

/** Moves the clock whenever nothing happens in this process, until `work` is done. */
export async function hasten<Result>(clock: ManualClock, work: Promise<Result>): Promise<Result> {
  const others = works.get(clock) ?? 0;
  works.set(clock, others + 1);
  if (!moved.has(clock)) void move(clock);
  try {
    return await work;
  } finally {
    works.set(clock, (works.get(clock) ?? 1) - 1);
  }
}

async function move(clock: ManualClock): Promise<void> {
  moved.add(clock);
  for (let passedMs = 0; ; passedMs += stepMs) {
    for (let turn = 0; turn < turnsPerStep || isBusy(); turn += 1) await new Promise(setImmediate);
    if (passedMs % breathEveryMs === 0) await sleep(1);
    for (const socket of sockets.values()) await allRead(socket);
    if (works.get(clock) === 0) break;
    clock.advance(stepMs);
  }
  moved.delete(clock);
}

/** The sockets of this process, by their own address and that of their peer. */
const sockets = new Map<string, Socket>();

const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket) => ({
  own: `${localAddress}:${localPort}>${remoteAddress}:${remotePort}`,
  peer: `${remoteAddress}:${remotePort}>${localAddress}:${localPort}`,
});

for (const channel of ['net.client.socket', 'net.server.socket'])
  subscribe(channel, (message) => {
    const { socket } = message as { socket: Socket };
    const add = () => {
      const { own } = endsOf(socket);
      sockets.set(own, socket);
      socket.once('close', () => sockets.delete(own));
    };
    if (socket.connecting) socket.once('connect', add);
    else add();
  });

/** Bytes that were under way to a socket when they were waited for in vain; until it has read all. */
const given = new WeakMap<Socket, number>();

/** Waits for what a socket has written until its peer, if that is in this process, has read it: the kernel of a busy machine takes its time. */
async function allRead(socket: Socket): Promise<void> {
  const peer = sockets.get(endsOf(socket).peer);
  if (peer === undefined) return;
  const unread = () => (peer.destroyed || socket.destroyed ? 0 : socket.bytesWritten - peer.bytesRead);
  if (unread() <= 0) given.delete(peer);
  else if (unread() !== given.get(peer)) {
    for (let look = 0; look < mostLooks && unread() > 0; look += 1) await sleep(1);
    given.set(peer, unread());
  }
}

/** How many keys and signatures other threads work on, of which the process has no list. */
let ciphers = 0;
const { subtle } = globalThis.crypto;
for (const name of ['generateKey', 'importKey', 'sign', 'verify', 'digest'] as const) {
  const work = subtle[name].bind(subtle) as (...args: unknown[]) => Promise<unknown>;
  const counted = async (...args: unknown[]) => {
    ciphers += 1;
    try {
      return await work(...args);
    } finally {
      ciphers -= 1;
    }
  };
  Object.defineProperty(subtle, name, { value: counted, configurable: true });
}

/** Requests to the system and to other threads that are under way: while there are any, time stands still. */
function isBusy(): boolean {
  return (
    ciphers > 0 ||
    process
      .getActiveResourcesInfo()
      .some((name) => /^FSReq|^CloseReq|GetAddrInfo|Connect|WriteWrap|Shutdown/.test(name))
  );
}

import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManualClock, type ManualClock } from './manual-clock.ts';

/** A frame of 20 ms at four times real time. */
const stepMs = 5;
/** What a socket of this process has read is answered within so many turns of the event loop. */
const turnsPerStep = 4;
/** What nobody has seen after so many looks is not going to be: its reader has paused, or is another process. */
const mostLooks = 100;
/** Now and then the machine is given real time, for what it does beside the event loop. */
const breathEveryMs = 50;

/** Time that the tests of a file and their services share. It starts now, and only passes while something is hastened. */
export const hastyClock: ManualClock = createManualClock(Date.now());

/** How much is under way on each clock: all of it shares the time that passes. */
const works = new WeakMap<ManualClock, number>();

/** Moves the clock whenever nothing happens in this process, until `work` is done. */
export async function hasten<Result>(clock: ManualClock, work: Promise<Result>): Promise<Result> {
  const others = works.get(clock) ?? 0;
  works.set(clock, others + 1);
  if (others === 0) void move(clock);
  try {
    return await work;
  } finally {
    works.set(clock, (works.get(clock) ?? 1) - 1);
  }
}

async function move(clock: ManualClock): Promise<void> {
  for (let passedMs = 0; works.get(clock) !== 0; passedMs += stepMs) {
    for (let turn = 0; turn < turnsPerStep || isBusy(); turn += 1) await new Promise(setImmediate);
    if (passedMs % breathEveryMs === 0) await sleep(1);
    for (const [own, end] of sockets) await allSeen(own, end);
    clock.advance(stepMs);
  }
}

interface End {
  socket: Socket;
  peer: string;
  isClient: boolean;
}

/** The sockets of this process, by their own address and that of their peer. */
const sockets = new Map<string, End>();

/** A socket that takes IPv4 and IPv6 names the first in the manner of the second. */
const placeOf = (address = '', port = 0) => `${address.replace(/^::ffff:/, '')}:${port}`;

for (const channel of ['net.client.socket', 'net.server.socket'])
  subscribe(channel, (message) => {
    const { socket } = message as { socket: Socket };
    const add = () => {
      const { localAddress, localPort, remoteAddress, remotePort } = socket;
      const own = placeOf(localAddress, localPort);
      const peer = placeOf(remoteAddress, remotePort);
      sockets.set(`${own}>${peer}`, {
        socket,
        peer: `${peer}>${own}`,
        isClient: channel === 'net.client.socket',
      });
    };
    if (socket.connecting) socket.once('connect', add);
    else add();
  });

/** What was under way from a socket when its peer was waited for in vain. */
const given = new WeakMap<Socket, string>();

/** Whether the end of the other side has arrived. */
const hasEnded = (socket: Socket) =>
  socket.destroyed || Reflect.get(Reflect.get(socket, '_readableState'), 'ended') === true;

/** What a socket has sent and its peer has not seen: its connection, bytes, its end. Undefined if there is nothing. */
function unseen({ socket, peer, isClient }: End): string | undefined {
  const other = sockets.get(peer)?.socket;
  if (other === undefined) return isClient && !socket.destroyed ? 'connection' : undefined;
  if (other.destroyed) return undefined;
  const bytes = socket.destroyed ? 0 : socket.bytesWritten - other.bytesRead;
  if (bytes > 0) return `${bytes} bytes`;
  return (socket.destroyed || socket.writableFinished) && !hasEnded(other) ? 'end' : undefined;
}

/** Waits for what a socket has sent until its peer, if that is in this process, has seen it: the kernel of a busy machine takes its time. */
async function allSeen(own: string, end: End): Promise<void> {
  // Each look lets the event loop read: on a busy machine time alone does not.
  for (let look = 0; look < mostLooks; look += 1) {
    const what = unseen(end);
    if (what === undefined) break;
    if (what === given.get(end.socket)) return;
    if (look === mostLooks - 1) given.set(end.socket, what);
    await sleep(1);
  }
  const other = sockets.get(end.peer)?.socket;
  if (end.socket.destroyed && other?.destroyed !== false) sockets.delete(own);
}

/** Calls of Web Crypto, which verifies tokens in other threads. Node does not count them among what is under way. */
let ciphering = 0;

for (const name of ['sign', 'verify', 'importKey', 'digest'] as const) {
  const own = crypto.subtle[name] as (...given: unknown[]) => Promise<unknown>;
  const counted = async (...args: unknown[]) => {
    ciphering += 1;
    try {
      return await own.apply(crypto.subtle, args);
    } finally {
      ciphering -= 1;
    }
  };
  Object.defineProperty(crypto.subtle, name, { value: counted, configurable: true, writable: true });
}

/** Requests to the system that are under way: while there are any, time stands still. */
function isBusy(): boolean {
  if (ciphering > 0) return true;
  return process
    .getActiveResourcesInfo()
    .some((name) => /^FSReq|GetAddrInfo|Connect|WriteWrap|Shutdown/.test(name));
}

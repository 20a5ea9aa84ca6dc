import type { Clock, ClockTimer } from '../../../kernel/clock.ts';
import type { NetworkQuality } from '../../../protocol/network.ts';

/** The quality of a network in one direction. */
export interface DirectionQuality extends Pick<NetworkQuality, 'latency' | 'jitter' | 'loss'> {
  /** Bits per second; 0: nothing passes. Undefined: no limit. */
  bitsPerSecond: number | undefined;
}

/** One direction of a connection: everything arrives, in order, at the time that the network allows. */
export interface OneWay {
  /** Whether so much waits or is under way that the sender should wait for `onRoom`. */
  readonly isFull: boolean;
  /** Bytes that wait or are under way. */
  readonly bytes: number;
  /** The memory that they take, about: a packet costs more than its bytes. 0 if nothing waits or is under way. */
  readonly costBytes: number;
  /** `lostMs`: time so far in which the sender could not send. */
  send(bytes: Buffer, lostMs?: number): void;
  /** Calls when everything sent so far has arrived. */
  after(call: () => void): void;
  /** Nothing arrives for this long. */
  hold(ms: number): void;
  /** The reader takes nothing (`false`), or reads on. */
  allow(isReading: boolean): void;
  /** Call it when the quality has changed. */
  changed(): void;
  /** Drops what is not under way yet. */
  drop(): void;
  /** Drops everything, also what is sent later. */
  close(): void;
}

/** When bytes were sent, and the time until then in which their sender could not send. */
export interface Sent {
  at: number;
  lostMs: number;
}

export interface OneWayOptions {
  clock: Clock;
  quality: () => DirectionQuality;
  /** Numbers from 0 up to 1. */
  chance: () => number;
  deliver: (bytes: Buffer, sent: Sent) => void;
  onRoom: () => void;
  /** What is under way on all lines together. */
  inFlight: { bytes: number };
}

/** Payload of a packet on Ethernet, and what its headers (IP, TCP) add to it. */
const packetBytes = 1_460;
const headerBytes = 40;
/** What a packet costs besides its bytes: a peer may send byte by byte. */
const packetCostBytes = 200;
/** Maximum bytes that wait for a slow line in whole packets, what these packets cost, and what is under way. */
const maxWaitingBytes = 64 * 1024;
const maxWaitingCost = maxWaitingBytes + Math.ceil(maxWaitingBytes / packetBytes) * packetCostBytes;
const maxFlyingBytes = 1024 * 1024;
/** Maximum bytes under way on all lines together. Beyond it each line is limited to its share. */
const maxTotalBytes = 16 * 1024 * 1024;
const shareBytes = 32 * 1024;
/** A lost packet is sent again after two round trips, at least 200 ms (as on Linux). Each further loss doubles this wait. */
const minRetransmitMs = 200;
const maxRetransmits = 8;

interface Packet {
  bytes: Buffer | undefined;
  call: (() => void) | undefined;
  sent: Sent;
  /** When it arrives. */
  at: number;
}

export function createOneWay({ clock, quality, chance, deliver, onRoom, inFlight }: OneWayOptions): OneWay {
  /** Packets before the slow line, and on it. */
  let waiting: Packet[] = [];
  let flying: Packet[] = [];
  let waitingBytes = 0;
  /** What the waiting packets cost besides. */
  let waitingCostBytes = 0;
  let flyingBytes = 0;
  /** When the line can take the next packet, and when the last one arrives. */
  let freeAt = 0;
  let lastAt = 0;
  let isReading = true;
  /** Whether the sender waits for room. */
  let isAwaited = false;
  let timer: ClockTimer | undefined;
  /** Whether a packet waits because too many are under way. */
  let isHeld = false;
  let isClosed = false;
  const isLineFull = () =>
    flyingBytes > maxFlyingBytes || (inFlight.bytes > maxTotalBytes && flyingBytes > shareBytes);
  const isFull = () => waitingBytes + waitingCostBytes > maxWaitingCost || isLineFull();
  const fly = (bytes: number) => {
    flyingBytes += bytes;
    inFlight.bytes += bytes;
  };

  const depart = (now: number) => {
    const { bitsPerSecond, ...rest } = quality();
    if (isHeld) freeAt = Math.max(freeAt, now);
    while (!isLineFull() && waiting[0] !== undefined && bitsPerSecond !== 0 && freeAt <= now) {
      const packet = waiting.shift() as Packet;
      const bytes = packet.bytes?.length ?? 0;
      const onLineMs = bitsPerSecond === undefined ? 0 : ((bytes + headerBytes) * 8_000) / bitsPerSecond;
      freeAt = Math.max(freeAt, packet.sent.at) + onLineMs;
      lastAt = Math.max(lastAt, freeAt + delayOf(rest, chance));
      flying.push({ ...packet, bytes: packet.bytes && alone(packet.bytes), at: lastAt });
      waitingBytes -= bytes;
      if (packet.bytes !== undefined) waitingCostBytes -= packetCostBytes;
      fly(bytes + packetCostBytes);
    }
    isHeld = waiting.length > 0 && isLineFull();
  };
  const arrive = (now: number) => {
    while (isReading && flying[0] !== undefined && flying[0].at <= now) {
      const { bytes, call, sent } = flying.shift() as Packet;
      fly(-(bytes?.length ?? 0) - packetCostBytes);
      if (bytes !== undefined) deliver(bytes, sent);
      call?.();
    }
  };
  const run = () => {
    timer?.cancel();
    timer = undefined;
    const now = clock.now();
    depart(now);
    arrive(now);
    if (isHeld) depart(now);
    const isNowFull = isFull();
    if (isAwaited && !isNowFull) onRoom();
    isAwaited = isNowFull;
    const isStuck = waiting.length === 0 || isHeld || quality().bitsPerSecond === 0;
    const next = Math.min(
      isStuck ? Number.POSITIVE_INFINITY : freeAt,
      isReading ? (flying[0]?.at ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
    );
    if (next < Number.POSITIVE_INFINITY) timer ??= clock.after(next - clock.now(), run, { background: true });
  };
  const add = (bytes: Buffer | undefined, lostMs: number, call?: () => void) => {
    if (isClosed && bytes !== undefined) return;
    waiting.push({ bytes, call, sent: { at: clock.now(), lostMs }, at: 0 });
    if (bytes === undefined) return;
    waitingBytes += bytes.length;
    waitingCostBytes += packetCostBytes;
  };

  return {
    get isFull() {
      return isFull();
    },
    get bytes() {
      return waitingBytes + flyingBytes;
    },
    get costBytes() {
      return waitingBytes + waitingCostBytes + flyingBytes;
    },
    send(bytes, lostMs = 0) {
      for (let at = 0; at < bytes.length; at += packetBytes)
        add(bytes.subarray(at, at + packetBytes), lostMs);
      run();
    },
    after(call) {
      add(undefined, 0, call);
      run();
    },
    hold(ms) {
      freeAt = Math.max(freeAt, clock.now() + ms);
    },
    allow(reads) {
      isReading = reads;
      if (reads) run();
    },
    changed() {
      // Packets that an outage held back are sent from now on, not in the past.
      freeAt = Math.max(freeAt, clock.now());
      run();
    },
    drop() {
      waiting = [];
      waitingBytes = 0;
      waitingCostBytes = 0;
      isHeld = false;
    },
    close() {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
      waiting = [];
      flying = [];
      waitingBytes = 0;
      waitingCostBytes = 0;
      fly(-flyingBytes);
    },
  };
}

/** The bytes as a copy if they are part of a large message: they would keep all of it in memory. */
function alone(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength > maxWaitingBytes ? Buffer.from(bytes) : bytes;
}

/** After how long a lost packet is sent again. */
export function retransmitMs(latency: number): number {
  return Math.max(minRetransmitMs, 4 * latency);
}

/** How long a packet takes. */
function delayOf(
  { latency, jitter, loss }: Omit<DirectionQuality, 'bitsPerSecond'>,
  chance: () => number,
): number {
  let ms = latency;
  if (jitter > 0) ms = Math.max(0, latency + (2 * chance() - 1) * jitter);
  if (loss === 0) return ms;
  let again = retransmitMs(latency);
  for (let lost = 0; lost < maxRetransmits && chance() < loss; lost += 1) {
    ms += again;
    again *= 2;
  }
  return ms;
}

import type { Socket } from 'node:net';
import type { Side } from '../wire/exchange.ts';
import type { LegSocket } from './leg-socket.ts';

/** One end of a joined stream. */
export interface Leg {
  socket: LegSocket;
  transport: Socket;
}

export const sides = ['device', 'service'] as const;
export const otherSide = { device: 'service', service: 'device' } as const satisfies Record<Side, Side>;

/** Changes what passes in one direction. */
export interface Spoiler {
  /** Whether a fault may affect this direction now. */
  readonly isActive: boolean;
  push(data: Buffer, isBinary: boolean): void;
}

/** Observes the traffic in one direction. */
export interface PassageWatch {
  passed(from: Side, data: Buffer, isBinary: boolean): void;
  control(from: Side, opcode: 'ping' | 'pong', bytes: number): void;
}

export interface PassageOptions {
  from: Side;
  source: Leg;
  sink: Leg;
  watch: PassageWatch;
  waiting: WaitingBytes;
  /** The sink reads too slowly. `isNow`: the data that waits for it must be released at once. */
  onSlowReader: (isNow: boolean) => void;
}

const asBinary = { binary: true };
const asText = { binary: false };

/**
 * One direction of a joined stream: passes on messages with their opcode and boundaries, pings and pongs, in order. A
 * class, because every frame passes through it: see ARCHITECTURE.md.
 */
export class Passage {
  /** Set if faults may strike. */
  spoiler: Spoiler | undefined;
  /** Whether everything is dropped, as if the other end had disappeared. */
  isSilent = false;
  private readonly from: Side;
  private readonly sink: LegSocket;
  private readonly watch: PassageWatch;
  private readonly pressure: BackPressure;
  private readonly onSlowReader: (isNow: boolean) => void;

  constructor({ from, source, sink, watch, waiting, onSlowReader }: PassageOptions) {
    this.from = from;
    this.sink = sink.socket;
    this.watch = watch;
    this.onSlowReader = onSlowReader;
    this.pressure = new BackPressure(source.socket, sink.transport, {
      waiting,
      onOver: () => onSlowReader(true),
    });
    source.socket.on('message', (data, isBinary) => this.push(data as Buffer, isBinary));
    source.socket.on('ping', (data) => this.control('ping', data));
    source.socket.on('pong', (data) => this.control('pong', data));
    sink.socket.once('close', () => this.pressure.letGo());
  }

  private push(data: Buffer, isBinary: boolean): void {
    if (this.isSilent) return;
    if (this.spoiler?.isActive) {
      this.spoiler.push(data, isBinary);
      return;
    }
    // Sent first, so that watching delays no message.
    this.send(data, isBinary);
    this.watch.passed(this.from, data, isBinary);
  }

  private control(opcode: 'ping' | 'pong', data: Buffer): void {
    if (this.isSilent) return;
    this.watch.control(this.from, opcode, data.length);
    if (!this.mayAdd()) return;
    if (opcode === 'ping') this.sink.ping(data);
    else this.sink.pong(data);
    this.pressure.wrote();
  }

  /** Sends a message to the sink. */
  send(data: Buffer, isBinary: boolean): void {
    if (!this.mayAdd()) return;
    this.sink.send(data, isBinary ? asBinary : asText);
    this.pressure.wrote();
  }

  private mayAdd(): boolean {
    if (this.sink.readyState !== this.sink.OPEN) return false;
    if (!this.pressure.isOver) return true;
    this.onSlowReader(false);
    return false;
  }
}

/** Bytes that may wait for a slow reader before its source is paused. */
const pauseOverBytes = 64 * 1024;
/** Bytes that may wait when a further message comes. Beyond it both sides are closed. */
const giveUpOverBytes = 1024 * 1024;
/** Bytes that may wait for all slow readers together: one message may be large. Beyond it the newest reader is cut off. */
const waitingInAllBytes = 32 * 1024 * 1024;

/** The bytes that wait for slow readers, over all streams. */
export class WaitingBytes {
  /** In the order in which they became slow. */
  private readonly readers = new Map<BackPressure, number>();
  private bytes = 0;

  /** Takes how many bytes wait for this reader now. */
  count(reader: BackPressure, bytes: number): void {
    this.bytes += bytes - (this.readers.get(reader) ?? 0);
    if (bytes === 0) this.readers.delete(reader);
    else this.readers.set(reader, bytes);
    if (this.bytes > waitingInAllBytes) [...this.readers.keys()].at(-1)?.onOver();
  }
}

/** Slows a source down to the pace of its reader. A class, because every frame passes through it: see ARCHITECTURE.md. */
class BackPressure {
  private isWaiting = false;
  private readonly source: LegSocket;
  private readonly sink: Socket;
  private readonly waiting: WaitingBytes;
  /** The readers of all streams together are too slow, and this one is the newest. */
  readonly onOver: () => void;

  constructor(
    source: LegSocket,
    sink: Socket,
    { waiting, onOver }: { waiting: WaitingBytes; onOver: () => void },
  ) {
    this.source = source;
    this.sink = sink;
    this.waiting = waiting;
    this.onOver = onOver;
  }

  /** Whether too much waits to add more. */
  get isOver(): boolean {
    return this.sink.writableLength > giveUpOverBytes;
  }

  /** A message was written to the sink. */
  wrote(): void {
    const { writableLength } = this.sink;
    if (writableLength <= pauseOverBytes) return;
    this.waiting.count(this, writableLength);
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.source.pause();
    this.sink.once('drain', () => this.letGo());
  }

  /** Reads the source again: its reader has caught up, or is gone. */
  letGo(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    this.waiting.count(this, 0);
    this.source.resume();
  }
}

import type { Socket } from 'node:net';
import type { Side } from '../wire/exchange.ts';
import { BackPressure } from './back-pressure.ts';
import type { LegSocket } from './leg-socket.ts';

/** One end of a joined stream. */
export interface Leg {
  socket: LegSocket;
  transport: Socket;
}

/** Changes what passes in one direction. */
export interface Spoiler {
  /** Whether any fault may concern this direction now. */
  readonly isActive: boolean;
  take(data: Buffer, isBinary: boolean): void;
}

/** Is told what passes in one direction. */
export interface PassageWatch {
  passed(from: Side, data: Buffer, isBinary: boolean): void;
  control(from: Side, opcode: 'ping' | 'pong', bytes: number): void;
}

export interface PassageOptions {
  from: Side;
  source: Leg;
  sink: Leg;
  watch: PassageWatch;
  /** The sink reads too slowly. */
  onSlowReader: () => void;
}

const asBinary = { binary: true };
const asText = { binary: false };

/**
 * One direction of a joined stream: messages with their opcode and boundaries, pings and pongs, in their order. A class,
 * because every frame passes it: see ARCHITECTURE.md.
 */
export class Passage {
  /** Set while faults may strike. */
  spoiler: Spoiler | undefined;
  /** Whether everything is dropped, as if the other end had disappeared. */
  isSilent = false;
  private readonly from: Side;
  private readonly sink: LegSocket;
  private readonly watch: PassageWatch;
  private readonly pressure: BackPressure;
  private readonly onSlowReader: () => void;

  constructor({ from, source, sink, watch, onSlowReader }: PassageOptions) {
    this.from = from;
    this.sink = sink.socket;
    this.watch = watch;
    this.onSlowReader = onSlowReader;
    this.pressure = new BackPressure(source.socket, sink.transport);
    source.socket.on('message', (data, isBinary) => this.take(data as Buffer, isBinary));
    source.socket.on('ping', (data) => this.control('ping', data));
    source.socket.on('pong', (data) => this.control('pong', data));
    sink.socket.once('close', () => this.pressure.letGo());
  }

  private take(data: Buffer, isBinary: boolean): void {
    if (this.isSilent) return;
    if (this.spoiler?.isActive) {
      this.spoiler.take(data, isBinary);
      return;
    }
    // What it costs to watch delays nobody's message.
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
    this.onSlowReader();
    return false;
  }
}

import type { Socket } from 'node:net';
import type { LegSocket } from './leg-socket.ts';

/** Bytes that may wait for a slow reader before its source is paused. */
export const pauseOverBytes = 64 * 1024;
/** Bytes that may wait before a further message; beyond it both sides are closed. */
export const giveUpOverBytes = 1024 * 1024;

/** Slows a source down to the pace of its reader. A class, because every frame passes it: see ARCHITECTURE.md. */
export class BackPressure {
  private isWaiting = false;
  private readonly source: LegSocket;
  private readonly sink: Socket;

  constructor(source: LegSocket, sink: Socket) {
    this.source = source;
    this.sink = sink;
  }

  /** Whether so much waits that nothing more may be added. */
  get isOver(): boolean {
    return this.sink.writableLength > giveUpOverBytes;
  }

  /** A message was written to the sink. */
  wrote(): void {
    if (this.isWaiting || this.sink.writableLength <= pauseOverBytes) return;
    this.isWaiting = true;
    this.source.pause();
    this.sink.once('drain', () => this.letGo());
  }

  /** The source is read again, also because its sink has gone. */
  letGo(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    this.source.resume();
  }
}

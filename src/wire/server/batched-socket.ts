import type { Socket } from 'node:net';
import { atTickEnd } from '../../kernel/clock.ts';

/** A batch beyond this size is written immediately: its bytes would look like those of a peer that does not read. */
const maxHeldBytes = 64 * 1024;

/**
 * A socket that collects everything sent during one event and writes it after the event: one write
 * for all frames that answer one read. A class, because every frame passes it: see
 * ARCHITECTURE.md.
 */
export class BatchedSocket {
  private readonly socket: Socket;
  private readonly schedule: typeof atTickEnd;
  private isHeld = false;

  constructor(socket: Socket, schedule = atTickEnd) {
    this.socket = socket;
    this.schedule = schedule;
  }

  /** Writes a header and its payload without copying. */
  write(header: Buffer, payload: Buffer): void {
    if (!this.isHeld) {
      this.isHeld = true;
      this.socket.cork();
      this.schedule(release, this);
    }
    this.socket.write(header);
    this.socket.write(payload);
    if (this.socket.writableLength >= maxHeldBytes) this.release();
  }

  /** Writes all waiting data now. */
  release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.socket.uncork();
  }
}

function release(batched: BatchedSocket): void {
  batched.release();
}

import type { Socket } from 'node:net';
import { atTickEnd } from '../../kernel/clock.ts';

/** This much waits for no end: the socket would else seem not to take it. */
const maxHeldBytes = 64 * 1024;

/**
 * A socket to which everything that is sent while one event is dealt with goes at once, when it has been: one write
 * for all the frames that answer what one read has brought. A class, as all that every frame passes: see
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

  /** Writes a header and its payload, of which neither is copied. */
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

  /** Lets go what waits, at once. */
  release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.socket.uncork();
  }
}

function release(batched: BatchedSocket): void {
  batched.release();
}

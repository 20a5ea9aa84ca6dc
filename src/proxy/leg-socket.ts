import type { LostTime } from '../audio/verdict/pace-check.ts';
import type { Clock } from '../kernel/clock.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { GuardedSocket } from '../service/guard.ts';

/** How a peer closes: with a close frame, or by violating the protocol. */
export interface PeerClose {
  /** 1005: a close frame without a code. */
  code: number;
  reason: Buffer;
  /** Whether ws closes for the peer, because of a bad frame. */
  isViolation: boolean;
}

const noReason = Buffer.alloc(0);

/**
 * The socket of one leg. ws answers a close frame at once by calling `close`. Here the other side gives the answer, so
 * `close` only reports the frame, and `closeNow` sends one. It counts the time in which it is not read.
 */
export class LegSocket extends GuardedSocket implements LostTime {
  onPeerClose: ((close: PeerClose) => void) | undefined;
  /** The machine's clock. Undefined: no time is counted. */
  clock: Pick<Clock, 'now'> | undefined;
  private pausedAt: number | undefined;
  private pausedMs = 0;

  get lostMs(): number {
    const { clock, pausedAt, pausedMs } = this;
    return clock === undefined || pausedAt === undefined ? pausedMs : pausedMs + clock.now() - pausedAt;
  }

  override pause(): void {
    super.pause();
    this.pausedAt ??= this.clock?.now();
  }

  override resume(): void {
    this.pausedMs = this.lostMs;
    this.pausedAt = undefined;
    super.resume();
  }

  override close(code?: number, reason?: string | Buffer): void {
    if (this.onPeerClose === undefined) {
      super.close(code, reason);
      return;
    }
    // For a close frame ws passes its code and its reason; for a bad frame only a code.
    const isViolation = code !== undefined && reason === undefined;
    this.onPeerClose({
      code: code ?? closeCodes.noStatus,
      reason: Buffer.from(reason ?? noReason),
      isViolation,
    });
  }

  /** Sends a close frame, and ends the connection once both sides have sent theirs. 1005: a frame without a code. */
  closeNow(code: number, reason: Buffer | string): void {
    if (code === closeCodes.noStatus) super.close();
    else super.close(code, reason);
  }
}

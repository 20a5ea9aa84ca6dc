import { closeCodes } from '../protocol/close-codes.ts';
import { GuardedSocket } from '../service/guard.ts';

/** How a peer closes: with a close frame, or because it breaks the protocol. */
export interface PeerClose {
  /** 1005: a close frame without a code. */
  code: number;
  reason: Buffer;
  /** Whether ws closes for the peer, because of a bad frame. */
  isViolation: boolean;
}

const noReason = Buffer.alloc(0);

/**
 * The socket of one leg. ws answers a close frame at once, by a call of `close`; between two legs the other side gives the
 * answer. So this `close` only tells; `closeNow` sends.
 */
export class LegSocket extends GuardedSocket {
  onPeerClose: ((close: PeerClose) => void) | undefined;

  override close(code?: number, reason?: string | Buffer): void {
    if (this.onPeerClose === undefined) {
      super.close(code, reason);
      return;
    }
    // For a frame ws passes the code with a reason, if it has one; for a bad frame the code alone.
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

import { type Clock, waitUntil } from '../kernel/clock.ts';
import type { Metrics } from './metrics.ts';

export interface ReplyEndOptions {
  clock: Clock;
  metrics: Metrics;
  /** How long to wait for a reply that has not begun. */
  waitMs: number;
  /** A pause this long ends a reply. */
  settleMs: number;
  signal: AbortSignal;
}

/** How often a reply that has not begun is looked for. */
const lookEveryMs = 20;

/** Waits, from the end of the sent audio on, until the reply to it has been heard to its end, or has not come. */
export async function waitForReplyEnd(options: ReplyEndOptions): Promise<'ended' | 'none'> {
  const { clock, metrics, waitMs, settleMs, signal } = options;
  const giveUpAt = clock.now() + waitMs;
  for (;;) {
    const now = clock.now();
    const begunAt = metrics.replyBegunAt;
    if (begunAt === undefined) {
      if (now >= giveUpAt) return 'none';
      await waitUntil(clock, Math.min(now + lookEveryMs, giveUpAt), signal);
      continue;
    }
    const endsAt = Math.max(begunAt, metrics.lastAudibleAt ?? 0) + settleMs;
    if (now >= endsAt) return 'ended';
    await waitUntil(clock, endsAt, signal);
  }
}

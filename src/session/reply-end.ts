import { type Clock, waitUntil } from '../kernel/clock.ts';
import type { Metrics } from './metrics.ts';

export interface ReplyEndOptions {
  clock: Clock;
  metrics: Metrics;
  /** How long to wait for a reply to begin. */
  waitMs: number;
  /** A pause this long ends a reply. */
  settleMs: number;
  /** Until when nothing was read from the service: now, if nothing is. */
  pausedUntil(): number;
  signal: AbortSignal;
}

/** How often to check whether a reply has begun. */
const lookEveryMs = 20;

/** Waits after the end of the sent audio until the reply has ended, or has failed to begin. */
export async function waitForReplyEnd(options: ReplyEndOptions): Promise<'ended' | 'none'> {
  const { clock, metrics, waitMs, settleMs, pausedUntil, signal } = options;
  const since = clock.now();
  for (;;) {
    const now = clock.now();
    const begunAt = metrics.replyBegunAt;
    const giveUpAt = Math.max(since, pausedUntil()) + waitMs;
    if (begunAt === undefined) {
      if (now >= giveUpAt) return 'none';
      await waitUntil(clock, Math.min(now + lookEveryMs, giveUpAt), signal);
      continue;
    }
    const endsAt = Math.max(begunAt, metrics.lastAudibleAt ?? 0, pausedUntil()) + settleMs;
    if (now >= endsAt) return 'ended';
    await waitUntil(clock, endsAt, signal);
  }
}

import { WebSocket } from 'ws';
import { withDeadline } from '../../kernel/promises.ts';
import type { Connection } from './connect.ts';
import type { ClientLeg } from './http.ts';

const stallTimeoutMs = 10_000;

/** The bytes that wait in the socket, and the callers that wait for fewer. */
export function createOutbox(
  { socket, closed }: Connection,
  { clock, tap }: Pick<ClientLeg, 'clock' | 'tap'>,
): { wake(): void; drained(bytes: number): Promise<void> } {
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resume of waiting) resume();
    waiting.clear();
  };
  void closed.then(wake);
  return {
    wake,
    async drained(bytes) {
      await tap?.ready?.();
      while (socket.bufferedAmount > bytes && socket.readyState === WebSocket.OPEN) {
        const written = new Promise<void>((resolve) => waiting.add(resolve));
        await withDeadline(written, {
          clock,
          ms: stallTimeoutMs,
          what: `The service has read none of ${socket.bufferedAmount} waiting bytes`,
        });
      }
    },
  };
}

import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { readError } from '../../protocol/error-body.ts';
import { readJsonBody } from './body.ts';
import { connectionError } from './connection-error.ts';
import { withDeadline } from './deadline.ts';
import { upgradeError } from './refusal-error.ts';

const handshakeTimeoutMs = 10_000;

/**
 * Waits until the socket is open; where it does not come to that, the connection is cut. Throws what `openVoiceStream`
 * throws.
 */
export async function awaitUpgrade(
  socket: WebSocket,
  url: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const { host } = new URL(url);
  let onAbort = () => {};
  const opened = new Promise<void>((resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('open', resolve);
    socket.once('error', (thrown) => reject(handshakeError(thrown, host)));
    socket.once('unexpected-response', async (_request, response: IncomingMessage) => {
      const body = await readJsonBody(response, host).catch(() => undefined);
      reject(upgradeError(response.statusCode ?? 0, url, readError(body)));
    });
  });
  const what = `${host} did not answer the WebSocket handshake`;
  try {
    await withDeadline(opened, { clock, ms: handshakeTimeoutMs, what });
  } catch (thrown) {
    socket.terminate();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function handshakeError(thrown: Error, host: string): VoicectlError {
  const isSystem = ('code' in thrown && !String(thrown.code).startsWith('HPE_')) || 'errors' in thrown;
  if (isSystem) return connectionError(thrown, host);
  return new VoicectlError('handshake-failed', `WebSocket handshake with ${host} failed: ${thrown.message}`, {
    cause: thrown,
  });
}

import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../kernel/clock.ts';
import { abortable, withDeadline } from '../../kernel/promises.ts';
import type { ProxyTarget } from '../../proxy/options.ts';
import { endpointOf } from '../../wire/addresses.ts';
import { connectionError } from '../../wire/client/connection-error.ts';

const reachMs = 10_000;

interface Reach {
  clock: Clock;
  signal: AbortSignal;
}

/** Reaches both addresses of a target. Throws what `reach` throws. */
export async function reachTarget({ baseUrl, wsUrl, ca }: ProxyTarget, how: Reach): Promise<void> {
  // One port as a rule, with two schemes.
  const places = new Map([baseUrl, wsUrl].map((url) => [url.replace(/^ws/, 'http'), url]));
  for (const url of places.values()) await reach(url, { ca, ...how });
}

/**
 * Opens a connection to a service, with TLS where its address asks for it, and closes it: nothing is sent. Throws
 * `connect-failed`, `tls-failed`, `timed-out`, or the signal's reason.
 */
async function reach(url: string, { ca, clock, signal }: Reach & { ca: string | undefined }): Promise<void> {
  signal.throwIfAborted();
  const { host } = new URL(url);
  const { isTls, servername, ...address } = endpointOf(url);
  const socket = isTls ? connectTls({ ...address, servername, ca }) : connectTcp(address);
  const reached = new Promise<void>((resolve, reject) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve());
    socket.once('error', (thrown) => reject(connectionError(thrown, host)));
  });
  try {
    await withDeadline(abortable(reached, signal), {
      clock,
      ms: reachMs,
      what: `${host} could not be reached`,
    });
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

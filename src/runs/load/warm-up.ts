import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRedactor } from '../../kernel/redact.ts';
import type { LoadContext } from './context.ts';
import { fetchToken } from './join.ts';
import { Tally } from './tally.ts';

/** After so many the code is compiled. */
const requests = 40;

/**
 * Gets tokens from a listener of its own until `until`, so that the first second of a run is as quick as the others:
 * code that runs for the first time takes some 10 ms. The service sees nothing of it, and nothing is counted.
 */
export async function warmUp(
  context: Pick<LoadContext, 'clock' | 'target' | 'signal' | 'times'>,
  until: number,
): Promise<void> {
  const { clock, signal, target } = context;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end('{"token":"a.warm.token"}');
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const own = {
      ...context,
      tally: new Tally(),
      target: { ...target, baseUrl, ca: undefined, apiKey: 'none' },
    };
    for (let count = 0; count < requests && clock.now() < until && !signal.aborted; count += 1)
      await fetchToken(own, { due: clock.now(), device: 'none' }, createRedactor());
  } catch {
    // A run that is not warm is a run all the same.
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

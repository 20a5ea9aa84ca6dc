import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port of this machine where nobody listens, for a program that cannot choose one itself. It is below those that Linux
 * (from 32,768 on), macOS and Windows (from 49,152 on) give to whoever asks for any: no other test gets it meanwhile.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

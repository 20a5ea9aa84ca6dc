import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VoicectlError } from '../../kernel/errors.ts';

/** Listens on an address. Throws `port-in-use`, and `usage` for an address that is not this machine's. */
export async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen({ host, port }, resolve);
  });
  // An accept fails when descriptors run out. Open connections continue.
  server.on('error', () => {});
  return server.address() as AddressInfo;
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): VoicectlError {
  if (cause.code === 'EADDRINUSE') {
    return new VoicectlError('port-in-use', `Port ${port} on ${host} is taken`, {
      hint: 'Choose another with --port, or let the system choose with --port 0.',
      cause,
    });
  }
  return new VoicectlError('usage', `Cannot listen on ${host}:${port}: ${cause.message}`, { cause });
}

import { once } from 'node:events';
import type { AddressInfo, LookupFunction } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { connectTls } from '../../src/wire/tls-socket.ts';

const addresses = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

test.each([
  ['its only address', addresses.slice(1)],
  ['the second of its addresses, because nobody answers at the first', addresses],
])('a connection over TLS to %s can be reset', async (_what, found) => {
  const { cert, key } = await createCertificate(['voice.example']);
  const server = createServer({ cert, key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const lookup = ((_host, _options, done) => done(null, found)) as LookupFunction;
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const socket = connectTls({ host: 'voice.example', port, ca: cert, lookup } as Parameters<
      typeof connectTls
    >[0]);
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    const [received] = await accepted;
    socket.write('hello');
    await once(received, 'data');
    const failed = once(received, 'error');
    socket.resetAndDestroy();
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
    if (!socket.closed) await once(socket, 'close');
  } finally {
    server.close();
  }
});

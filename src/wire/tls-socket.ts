import { isIP, connect as openTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls, type TLSSocket } from 'node:tls';

/** Lets a TLS socket reset its connection through the TCP socket beneath: its own method throws ERR_INVALID_HANDLE_TYPE. */
export function makeResettable(tls: TLSSocket, tcp: Socket | undefined): void {
  tls.resetAndDestroy = () => {
    tcp?.resetAndDestroy();
    return tls;
  };
}

/** Connects over TLS. In contrast to the socket of `tls.connect`, the result can be reset. */
export function connectTls({
  host = '',
  port = 443,
  servername = isIP(host) === 0 ? host : '',
  ...settings
}: ConnectionOptions): TLSSocket {
  const tcp = openTcp({ host, port });
  const tls = openTls({ ...settings, path: undefined, host, port, servername, socket: tcp });
  makeResettable(tls, tcp);
  return tls;
}

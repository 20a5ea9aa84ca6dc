import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as openTls, type TLSSocket } from 'node:tls';

/** Lets a TLS socket reset its connection through the TCP socket beneath: its own method throws ERR_INVALID_HANDLE_TYPE. */
export function makeResettable(tls: TLSSocket, tcp: Socket | undefined): void {
  tls.resetAndDestroy = () => {
    tcp?.resetAndDestroy();
    return tls;
  };
}

/**
 * What Node keeps beneath a TLS socket that it has connected itself. A TCP socket of ours would have another handle for each
 * address that is tried, of which the TLS socket knows the first.
 */
interface TlsHandle {
  _parent?: { close(done: () => void): void; reset?(done: () => void): void };
}

/** Connects over TLS. In contrast to the socket of `tls.connect`, the result can be reset; where Node cannot, it is cut. */
export function connectTls({
  host = '',
  port = 443,
  servername = isIP(host) === 0 ? host : '',
  ...settings
}: ConnectionOptions): TLSSocket {
  const tls = openTls({ ...settings, path: undefined, host, port, servername });
  tls.resetAndDestroy = () => {
    const beneath = (tls as { _handle?: TlsHandle })._handle?._parent;
    if (beneath?.reset !== undefined) beneath.close = beneath.reset;
    return tls.destroy();
  };
  return tls;
}

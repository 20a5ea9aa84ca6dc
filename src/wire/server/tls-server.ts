import type { Server } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { plainAddress } from '../addresses.ts';
import { makeResettable } from '../tls-socket.ts';
import type { TlsCertificate } from './certificate.ts';

/** The same limit as for headers without TLS. */
const handshakeDeadlineMs = 5_000;
/** Stands for the address of a peer that left before its connection was accepted. */
const unknownAddress = 'unknown';

/** OpenSSL's reasons in plain words for the developer of a device. Others are shown unchanged. */
const reasons: [pattern: RegExp, meaning: string][] = [
  [/ERR_SSL_HTTP_REQUEST/, 'it speaks plain HTTP, but this port requires TLS'],
  [/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN/, 'it does not trust the certificate'],
  [/CERTIFICATE_EXPIRED/, 'the certificate is not valid according to its clock'],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION/, 'it speaks a version of TLS before 1.2'],
  [/NO_SHARED_CIPHER|HANDSHAKE_FAILURE|NO_SUITABLE/, 'it shares no cipher or curve with this server'],
  [/WRONG_VERSION_NUMBER/, 'it does not speak TLS'],
  [/ERR_TLS_HANDSHAKE_TIMEOUT/, 'the handshake did not finish in time'],
  [/ECONNRESET|EPIPE/, 'it hung up during the handshake'],
];

/** A failed TLS handshake: the address of the peer, and the reason in words for the developer of a device. */
export interface HandshakeFailure {
  remote: string;
  why: string;
}

/** Called for each handshake. Devices often say little about a failed one. */
export interface HandshakeListeners {
  /** `protocol`: the version of TLS. */
  onOpened?(opened: { remote: string; protocol: string }): void;
  onFailure(failure: HandshakeFailure): void;
}

/** HTTP over TLS. */
export function createTlsServer(
  settings: ServerOptions,
  { cert, key }: TlsCertificate,
  { onOpened, onFailure }: HandshakeListeners,
): Server {
  const server = createServer({ ...settings, cert, key, handshakeTimeout: handshakeDeadlineMs });
  // Node would report it as a bad request, and answer in HTTP.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    onFailure({ remote: addressOf(socket), why: meaning(error) });
    socket.destroy();
  });
  server.on('secureConnection', (socket: TLSSocket) =>
    onOpened?.({ remote: plainAddress(socket.remoteAddress), protocol: socket.getProtocol() ?? '' }),
  );
  reachBeneath(server);
  return server;
}

/**
 * The address of a peer, also after it has hung up. Node reads an address when it is first asked for, and keeps it. A TLS
 * socket is asked too late here; its TCP socket (`_parent`, Node 20 to 24) was asked when it connected, by `peerOf`.
 */
function addressOf(socket: TLSSocket & { _parent?: Socket }): string {
  return plainAddress(socket.remoteAddress ?? socket._parent?.remoteAddress ?? unknownAddress);
}

function meaning({ code = '', message }: NodeJS.ErrnoException): string {
  const found = reasons.find(([pattern]) => pattern.test(code));
  if (found !== undefined) return found[1];
  // `80AC…:error:0A0000F4:SSL routines:ssl3_read_bytes:unexpected message:../deps/…`
  return /:error:[^:]*:[^:]*:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;
}

/**
 * Works around two limits of Node's TLS sockets: `closeAllConnections` does not know a connection before its handshake
 * is over, and `resetAndDestroy` throws (ERR_INVALID_HANDLE_TYPE). The TCP socket beneath can do both.
 */
function reachBeneath(server: Server): void {
  const sockets = new Map<string, Socket>();
  server.on('connection', (tcp: Socket) => {
    const peer = peerOf(tcp);
    sockets.set(peer, tcp);
    tcp.once('close', () => sockets.delete(peer));
  });
  server.on('secureConnection', (tls: TLSSocket) => {
    makeResettable(tls, sockets.get(peerOf(tls)));
  });
  const closeRequests = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeRequests();
    for (const tcp of sockets.values()) tcp.destroy();
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

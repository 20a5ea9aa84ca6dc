import { createServer, type Server } from 'node:http';
import { type AdmissionOptions, maxHeaders } from '../../wire/server/admission.ts';
import type { TlsCertificate } from '../../wire/server/certificate.ts';
import { ServiceResponse } from '../../wire/server/in-turn.ts';
import { ServiceRequest } from '../../wire/server/service-request.ts';
import { createTlsServer, type HandshakeListeners } from '../../wire/server/tls-server.ts';

/** How often Node looks for late requests: the deadlines below are exact to within it. */
const checkEveryMs = 500;
/** Headers within 5 s, the whole request within 10 s. */
const headersDeadlineMs = 5_000 - 2 * checkEveryMs;
const requestDeadlineMs = 10_000 - 2 * checkEveryMs;

/** Who may control the emulator: pages and programs of this machine, under a loopback name. */
export const loopbackOnly: AdmissionOptions = {
  allowHosts: [],
  allowOrigins: [],
  boundAddresses: false,
  links: false,
};
/** A server for the paths of the service, with or without TLS: its limits, and no handlers. */
export function createServiceServer(tls: TlsCertificate | undefined, handshakes: HandshakeListeners): Server {
  const settings = {
    IncomingMessage: ServiceRequest,
    ServerResponse: ServiceResponse,
    // Otherwise Node answers a request without Host in its own shape. `admit` checks for Host.
    requireHostHeader: false,
    connectionsCheckingInterval: checkEveryMs,
    headersTimeout: headersDeadlineMs,
    requestTimeout: requestDeadlineMs,
  };
  const server = tls === undefined ? createServer(settings) : createTlsServer(settings, tls, handshakes);
  // One more than allowed, so that too many differs from just enough.
  server.maxHeadersCount = maxHeaders + 1;
  return server;
}

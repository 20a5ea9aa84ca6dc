import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../protocol/loopback.ts';

/** Headers that proxies, balancers and tunnels add: RFC 7239, RFC 9110 (section 7.6.3), and non-standard ones. */
const forwarding = /^(?:forwarded|via|x-real-ip|x-(?:forwarded|original|envoy)\b.*|.*client-ip|cf-.*)$/;

/** Whether a request seems to come directly from a program of this machine, not through a proxy. */
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  return isLoopbackHost(peer) && !Object.keys(headers).some((name) => forwarding.test(name));
}

import { type IncomingMessage, request } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Header } from '../exchange.ts';
import { servername, trusting } from './trusting.ts';

export interface RequestToStart {
  method: string;
  url: URL;
  headers: readonly Header[];
  body: string | Uint8Array | undefined;
  /** PEM certificates to trust instead of the built-in authorities. */
  ca: string | undefined;
  /** Ends the connection. */
  signal: AbortSignal;
  /** Called when the service can be spoken to. */
  onConnect?: () => void;
}

export interface StartedRequest {
  /** The answer, once its head has arrived. Rejects with what the system, TLS or the parser of Node says. */
  answer: Promise<IncomingMessage>;
  /** Ends the connection, whatever is under way on it. */
  end(): void;
}

/** Methods whose request has a length, even without a body. */
const withBody = new Set(['POST', 'PUT', 'PATCH']);

/** Sends a request over HTTP on a connection of its own, as cheaply as Node can: no agent, no redirects, no limits of time. */
export async function startRequest(options: RequestToStart): Promise<StartedRequest> {
  const { method, url, headers, body, signal } = options;
  const socket = await connectTo(options);
  // Those that nobody waits for any more.
  socket.on('error', () => {});
  const end = () => {
    signal.removeEventListener('abort', end);
    socket.destroy();
  };
  signal.addEventListener('abort', end, { once: true });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({
      method,
      path: url.pathname + url.search,
      headers: ['Host', url.host, 'Connection', 'keep-alive', ...headers.flat(), ...lengthOf(method, body)],
      createConnection: () => socket,
    });
    sent.on('response', resolve);
    sent.on('error', reject);
    sent.on('close', () => reject(new Error('connection closed before an answer')));
    sent.end(body);
  });
  if (signal.aborted) end();
  return { answer, end };
}

async function connectTo({ url, ca, onConnect = () => {} }: RequestToStart): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = { host, port: Number(url.port) || (isTls ? 443 : 80), noDelay: true };
  if (!isTls) return connectTcp(address).once('connect', onConnect);
  // Loads Node's crypto too.
  const { connect: connectTls } = await import('node:tls');
  return connectTls({ ...address, servername: servername(host), ...trusting(ca) }).once(
    'secureConnect',
    onConnect,
  );
}

function lengthOf(method: string, body: RequestToStart['body']): string[] {
  if (body === undefined && !withBody.has(method)) return [];
  return ['Content-Length', String(body === undefined ? 0 : Buffer.byteLength(body))];
}

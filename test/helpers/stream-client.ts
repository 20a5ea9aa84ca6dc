import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { connectedKind } from '../../src/protocol/messages.ts';
import { streamPath } from '../../src/protocol/paths.ts';
import { createWatch } from './watch.ts';

/** A WebSocket client that remembers all that it hears. It knows nothing of the program's own client. */
export interface StreamClient {
  readonly socket: WebSocket;
  /** The service's text messages, parsed. */
  readonly messages: Record<string, unknown>[];
  /** Everything in the order of its arrival: parsed texts, and audio as it came. */
  readonly heard: (Record<string, unknown> | Buffer)[];
  readonly audio: Buffer;
  /** Resolves when the upgrade is done; rejects with the status where it is refused. */
  readonly opened: Promise<void>;
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Resolves when the service has confirmed the token; rejects when it closes the stream instead. */
  readonly connected: Promise<void>;
  until<Found>(check: () => Found | undefined | false): Promise<Found>;
  /** Sends text or audio, and resolves when the system has taken it. */
  send(data: string | Buffer): Promise<void>;
}

export function openStream(wsUrl: string, options: ClientOptions = {}): StreamClient {
  const socket = new WebSocket(wsUrl + streamPath, { perMessageDeflate: false, ...options });
  const messages: Record<string, unknown>[] = [];
  const heard: (Record<string, unknown> | Buffer)[] = [];
  const watch = createWatch();
  let end: { code: number; reason: string } | undefined;

  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) heard.push(data);
    else {
      const message = JSON.parse(data.toString()) as Record<string, unknown>;
      messages.push(message);
      heard.push(message);
    }
    watch.changed();
  });
  socket.on('close', (code, reason) => {
    end = { code, reason: reason.toString() };
    watch.changed();
  });
  const opened = new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      response.resume();
      reject(new Error(`HTTP ${response.statusCode}`));
      socket.terminate();
    });
    socket.on('error', reject);
  });
  const closed = watch.until(() => end);
  const confirmation = watch.until(() => {
    if (messages.some((message) => Object.values(message).includes(connectedKind))) return true;
    if (end !== undefined) throw new Error(`closed with ${end.code} ${end.reason}`);
    return undefined;
  });
  const connected = confirmation.then(() => {});
  // Whoever waits for these sees the failure; nobody has to.
  for (const promise of [opened, connected]) promise.catch(() => {});

  return {
    socket,
    messages,
    heard,
    get audio() {
      return Buffer.concat(heard.filter((item) => Buffer.isBuffer(item)));
    },
    opened,
    closed,
    connected,
    until: watch.until,
    send: (data) =>
      new Promise((resolve, reject) =>
        socket.send(data, { binary: typeof data !== 'string' }, (error) =>
          error ? reject(error) : resolve(),
        ),
      ),
  };
}

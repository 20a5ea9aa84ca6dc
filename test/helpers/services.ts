import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { freePort } from './free-port.js';

export interface SeenRequest {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface HttpService {
  baseUrl: string;
  requests: SeenRequest[];
}

export interface TcpService {
  port: number;
  sockets: Socket[];
  /** Bytes that came in, over all connections. */
  readonly bytes: number;
}

/**
 * Small services of other make than our emulator, on free ports, each as a test scripts it; after each test they are
 * cut off and closed.
 */
export function setUpServices() {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  });

  const listen = async (server: Server, cut: () => void): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    });
    return (server.address() as AddressInfo).port;
  };

  return {
    /** A port where nobody listens. */
    unusedPort: freePort,

    /** Answers requests once their bodies are read; `index` counts them from 0. */
    async http(
      answer: (response: ServerResponse, request: SeenRequest, index: number) => void,
    ): Promise<HttpService> {
      const requests: SeenRequest[] = [];
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { method, url, headers } = request;
        const seen = { method, url, headers, body: Buffer.concat(chunks).toString() };
        requests.push(seen);
        answer(response, seen, requests.length - 1);
      });
      const port = await listen(server, () => server.closeAllConnections());
      return { baseUrl: `http://127.0.0.1:${port}`, requests };
    },

    /** Does with connections whatever a test likes. */
    async tcp(onSocket: (socket: Socket) => void): Promise<TcpService> {
      const sockets: Socket[] = [];
      let bytes = 0;
      const server = createTcpServer((socket) => {
        sockets.push(socket);
        socket.on('error', () => {});
        socket.on('data', (chunk) => {
          bytes += chunk.length;
        });
        onSocket(socket);
      });
      const port = await listen(server, () => {
        for (const socket of sockets) socket.destroy();
      });
      return {
        port,
        sockets,
        get bytes() {
          return bytes;
        },
      };
    },

    /** Speaks WebSocket by means of `ws`. */
    async ws(
      onPeer: (peer: WebSocket, request: IncomingMessage) => void,
      options: ServerOptions = {},
    ): Promise<string> {
      const sockets = new Set<Socket>();
      const server = createServer();
      server.on('connection', (socket) => sockets.add(socket));
      const service = new WebSocketServer({ server, ...options });
      service.on('connection', onPeer);
      const port = await listen(server, () => {
        for (const socket of sockets) socket.destroy();
      });
      return `ws://127.0.0.1:${port}`;
    },
  };
}

/** Answers an upgrade by hand, and in the same packet sends what else is given; calls `onOpen` after it. */
export function upgradeByHand(
  socket: Socket,
  { headers = '', encoding = 'utf8', then = Buffer.alloc(0), onOpen = () => {} }: UpgradeByHand = {},
): void {
  socket.once('data', (head) => {
    const key = /sec-websocket-key: (.*)\r\n/i.exec(head.toString())?.[1] ?? '';
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
    const answer = `${lines.join('\r\n')}\r\nSec-WebSocket-Accept: ${accept}\r\n${headers}\r\n`;
    socket.write(Buffer.concat([Buffer.from(answer, encoding), then]));
    onOpen();
  });
}

export interface UpgradeByHand {
  /** Further header lines, each with its end. */
  headers?: string;
  encoding?: BufferEncoding;
  then?: Buffer;
  onOpen?: () => void;
}

/** A text frame of a server: short, and so with a head of two bytes. */
export function textFrame(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x81, Buffer.byteLength(text)), Buffer.from(text)]);
}

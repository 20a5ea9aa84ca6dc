import { type IncomingHttpHeaders, request } from 'node:http';
import { WebSocket } from 'ws';
import { createWatch } from '../helpers/watch.ts';

/** A client of nothing but `node:http` and `ws`: it shares no code with the project, and so no mistakes. */

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The wall-clock milliseconds between which the service must have answered. */
  sentAt: number;
  answeredAt: number;
}

/** Sends one POST on a connection of its own. */
export function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const sentAt = Date.now();
  return new Promise((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const call = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'application/json', 'Content-Length': length, ...headers },
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString(), sentAt, answeredAt: Date.now() });
      });
    });
    call.end(body);
  });
}

/** Parses what the service sent; a failure shows it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`not JSON: ${JSON.stringify(text)}`, { cause });
  }
}

export interface PlainStream {
  /** The messages of the service, in the order of their arrival: text as a string, audio as bytes. */
  readonly heard: readonly (string | Buffer)[];
  readonly audio: Buffer;
  readonly isOpen: boolean;
  /** Resolves when the connection is open. */
  readonly opened: Promise<void>;
  send(data: string | Buffer): void;
  /** Resolves when the service has answered a ping: all that it sent before has been heard. */
  settle(): Promise<void>;
  /** Resolves with what `check` finds after any message; rejects when the stream ends without it. */
  until<Found>(check: () => Found | undefined | false): Promise<Found>;
  /** Cuts the connection, and resolves when it is gone. */
  cut(): Promise<void>;
}

export function openStream(url: string): PlainStream {
  const socket = new WebSocket(url);
  const watch = createWatch();
  const heard: (string | Buffer)[] = [];
  let pongs = 0;
  let failure = '';
  let isClosed = false;

  socket.on('open', watch.changed);
  socket.on('message', (data: Buffer, isBinary) => {
    heard.push(isBinary ? data : data.toString());
    watch.changed();
  });
  socket.on('pong', () => {
    pongs += 1;
    watch.changed();
  });
  socket.on('error', (error) => {
    failure = `: ${error.message}`;
  });
  socket.on('close', (code, reason) => {
    failure = `the stream ended with ${code} ${reason}${failure}; heard: ${heard.map(show).join(' ')}`;
    isClosed = true;
    watch.changed();
  });
  const closed = watch.until(() => isClosed);

  const until: PlainStream['until'] = (check) =>
    watch.until(() => {
      const found = check();
      if ((found === undefined || found === false) && isClosed) throw new Error(failure);
      return found;
    });
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const opened = until(isOpen).then(() => {});
  // Whoever waits for it sees the failure; nobody has to.
  opened.catch(() => {});
  return {
    heard,
    get audio() {
      return Buffer.concat(heard.filter((message) => Buffer.isBuffer(message)));
    },
    get isOpen() {
      return isOpen();
    },
    opened,
    send: (data) => socket.send(data, { binary: Buffer.isBuffer(data) }),
    async settle() {
      const before = pongs;
      socket.ping();
      await until(() => pongs > before);
    },
    until,
    async cut() {
      socket.terminate();
      await closed;
    },
  };
}

function show(message: string | Buffer): string {
  return typeof message === 'string' ? message : `(${message.length} bytes)`;
}

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { basename, join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, systemClock, waitUntil } from '../../src/kernel/clock.ts';
import type { Addresses } from './voicectl.ts';

interface Step {
  from: 'service' | 'client';
  type: 'text' | 'binary' | 'ping' | 'close';
  text?: string;
  base64?: string;
  code?: number;
  reason?: string;
  afterMs?: number;
}

/** One session as another implementation might hold it; fixtures/README.md describes the fields. */
export interface Transcript {
  name: string;
  http: {
    request: { path: string };
    response: { status: number; headers: [string, string][]; body: string };
  };
  stream: Step[];
  expect: {
    kinds: string[];
    audioBytesIn: number;
    exitCode: number;
    errorCode?: string;
    rateLimit?: { limit?: number; remaining?: number; resetInMs?: number };
    shows?: string[];
    neverShows?: string[];
  };
}

const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'transcripts');

export const transcripts = readdirSync(folder).map((file) => ({
  name: basename(file, '.json'),
  transcript: JSON.parse(readFileSync(join(folder, file), 'utf8')) as Transcript,
}));

export interface TranscriptService extends Addresses {
  /** The bodies of the token requests. */
  readonly requests: string[];
  readonly upgrades: number;
  /** The first text message of each stream. */
  readonly tokens: string[];
  close(): Promise<void>;
}

/** Plays a transcript’s service, with its headers as they stand, the `Date` of the past included. */
export async function startTranscriptService(
  transcript: Transcript,
  clock: Clock = systemClock,
): Promise<TranscriptService> {
  const requests: string[] = [];
  const tokens: string[] = [];
  let upgrades = 0;
  const { response } = transcript.http;
  const server = createServer(async (request, answer) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(body);
    answer.writeHead(response.status, response.headers.flat());
    answer.end(response.body);
  });
  const sockets = new WebSocketServer({ server, path: '/voice-stream' });
  sockets.on('connection', (socket) => {
    upgrades += 1;
    // What the client does to end it early is the client's affair.
    play(socket, transcript.stream, { tokens, clock }).catch(() => socket.terminate());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    requests,
    tokens,
    get upgrades() {
      return upgrades;
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function play(
  socket: WebSocket,
  steps: readonly Step[],
  { tokens, clock }: { tokens: string[]; clock: Clock },
): Promise<void> {
  const texts: string[] = [];
  let bytesIn = 0;
  let isClosed = false;
  let wake = () => {};
  socket.on('error', () => {});
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) bytesIn += data.length;
    else texts.push(data.toString());
    wake();
  });
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  const until = async (check: () => boolean) => {
    while (!check()) {
      if (isClosed) throw new Error('the client has gone');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  let awaitedBytes = 0;
  for (const step of steps) {
    if (step.afterMs !== undefined) await waitUntil(clock, clock.now() + step.afterMs);
    if (step.from === 'client') {
      if (step.type === 'text') {
        await until(() => texts.length > 0);
        tokens.push(texts.shift() ?? '');
      } else if (step.type === 'binary') {
        awaitedBytes += Buffer.from(step.base64 ?? '', 'base64').length;
        await until(() => bytesIn >= awaitedBytes);
      } else {
        while (!isClosed) await until(() => isClosed);
        return;
      }
    } else {
      await say(socket, step);
    }
  }
}

async function say(socket: WebSocket, { type, text, base64, code, reason }: Step): Promise<void> {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  if (type === 'ping') socket.ping(text);
  else if (type === 'close') {
    // The end of the connection without a close frame. Cutting it at once could take back what was just sent.
    if (code === 1006) (socket as unknown as { _socket: Socket })._socket.end();
    else if (code === 1005) socket.close();
    else socket.close(code, reason);
  } else {
    await new Promise<void>((resolve, reject) => {
      socket.send(text ?? bytes, { binary: type === 'binary' }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }
}

import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { headerPairs } from '../wire/headers.ts';
import { passedHeaders } from './headers.ts';

/** Passes the answer of a target that does not open a stream on to the device, and ends the connection. */
export async function relayRefusal(answer: IncomingMessage, socket: Duplex): Promise<void> {
  const status = answer.statusCode ?? 0;
  const lines = [
    `HTTP/1.1 ${status} ${answer.statusMessage || (STATUS_CODES[status] ?? '')}`,
    ...passedHeaders(headerPairs(answer.rawHeaders)).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  // One that hangs up has its answer.
  await pipeline(answer, socket).catch(() => {});
  socket.destroy();
}

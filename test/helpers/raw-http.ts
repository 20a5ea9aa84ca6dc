import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Names and values as they were written. */
  headers: [name: string, value: string][];
  body: string;
  text: string;
}

/**
 * Writes bytes to a port and reads until the other side ends or closes the connection, so that
 * spelling and order of the answer can be seen. Our own side is not ended before that.
 */
export function rawHttp(
  port: number,
  request: string | Buffer,
  { host = '127.0.0.1' } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host, allowHalfOpen: true });
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      socket.destroy();
      resolve(readAnswer(Buffer.concat(chunks).toString()));
    });
    // A service that refuses to read on may reset the connection behind its answer.
    socket.on('error', (error) => {
      if (chunks.length === 0) reject(error);
      else resolve(readAnswer(Buffer.concat(chunks).toString()));
    });
  });
}

function readAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n'), text };
}

/** A request head with the given lines and nothing that was not asked for, and a body. */
export function httpRequest(lines: string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

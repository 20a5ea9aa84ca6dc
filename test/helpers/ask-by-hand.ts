import { connect } from 'node:net';

export interface Asked {
  line: string;
  headers?: Record<string, string | undefined>;
  body?: string;
}

/** One request as bytes on a socket: browsers and `fetch` forbid some of these headers. Resolves with the head of the answer. */
export function askByHand(
  port: number,
  { line, headers = {}, body = '' }: Asked,
): Promise<{ status: number; head: string }> {
  const all = { Host: `127.0.0.1:${port}`, Connection: 'close', ...headers };
  const length = line.startsWith('POST') ? [`Content-Length: ${Buffer.byteLength(body)}`] : [];
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write([`${line} HTTP/1.1`, ...lines, ...length, '', body].join('\r\n')),
    );
    socket.once('data', (chunk) => {
      socket.destroy();
      const head = chunk.toString().split('\r\n\r\n')[0] ?? '';
      resolve({ status: Number(head.split(' ')[1]), head });
    });
    socket.on('error', reject);
  });
}

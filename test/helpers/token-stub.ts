import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Sandbox } from './voicectl.ts';

export interface TokenStub {
  baseUrl: string;
  port: number;
  /** All that arrived: path, headers and body of each request. */
  readonly arrived: { path: string; headers: IncomingMessage['headers']; body: string }[];
  /** Connections, also those without a request. */
  readonly connections: number;
}

/** A service of two lines: whatever `answer` does with each request. */
export async function startTokenStub(
  sandbox: Sandbox,
  answer: (response: ServerResponse, body: string) => void,
): Promise<TokenStub> {
  const arrived: TokenStub['arrived'] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    arrived.push({ path: request.url ?? '', headers: request.headers, body });
    answer(response, body);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  sandbox.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    arrived,
    get connections() {
      return connections;
    },
  };
}

/** Answers with a token, whatever was asked. */
export function grant(token: unknown): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ token }));
  };
}

/** Answers with an error in the shape of the specification. */
export function refuse(status: number, code: string, message: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response
      .writeHead(status, { 'Content-Type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { code, message } }));
  };
}

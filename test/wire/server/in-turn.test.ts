import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { inTurn, ServiceResponse } from '../../../src/wire/server/in-turn.ts';

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server that answers a path with it and as many bytes as are asked for, and a client that sends what it is given. */
async function start({ bytes = 0 } = {}) {
  const made: string[] = [];
  const server = createServer({ ServerResponse: ServiceResponse }, (request, response: ServerResponse) =>
    inTurn(request, response, async () => {
      made.push(request.url ?? '');
      let body = '';
      for await (const chunk of request) body += chunk;
      response.end(`${request.url}${body};${' '.repeat(bytes)}`);
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('error', () => {});
  await once(socket, 'connect');
  ends.push(
    () => socket.destroy(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const read = () => socket.on('data', (chunk) => (text += chunk));
  const paths = () => [...text.matchAll(/(\/\w*);/g)].map(([, path]) => path);
  return { made, socket, read, paths };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

test('requests that are sent one after the other are all answered, in their order', async () => {
  const { socket, read, paths } = await start();
  read();
  const asked = Array.from({ length: 500 }, (_, i) => `/${i}`);
  socket.write(asked.map(get).join(''));
  await expect.poll(paths).toEqual(asked);
});

test('a request whose body comes late is answered, and so is the one behind it', async () => {
  const { made, socket, read, paths } = await start();
  read();
  const late = post('/b', 'later');
  socket.write(get('/a') + late.slice(0, -5));
  await expect.poll(() => made).toContain('/a');
  socket.write(`${late.slice(-5)}${get('/c')}`);
  await expect.poll(paths).toEqual(['/a', '/blater', '/c']);
});

test('no answer is prepared for a client that does not read the previous one', async () => {
  const { made, socket, read, paths } = await start({ bytes: 16 * 1024 * 1024 });
  socket.pause();
  socket.write(Array.from({ length: 50 }, (_, i) => get(`/${i}`)).join(''));
  await expect.poll(() => made).toEqual(['/0']);
  socket.write(get('/last'));
  await new Promise(setImmediate);
  expect(made).toEqual(['/0']);
  read();
  socket.resume();
  await expect.poll(() => made.length).toBeGreaterThan(1);
  expect(paths()).toContain('/0');
});

test('a connection on which more than 1,000 requests wait is cut', async () => {
  const { socket, made } = await start({ bytes: 16 * 1024 * 1024 });
  socket.pause();
  socket.write(get('/').repeat(1_500));
  await once(socket.resume(), 'close');
  expect(made.length).toBeLessThan(1_000);
});

/** Floors of the proxy: a relay of TCP (`tcp`), or of bare `ws` (`ws`), to a port of this machine. */
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { announce } from './announce.js';

const [kind, port = '0'] = process.argv.slice(2);

function relayTcp() {
  return createTcpServer((socket) => {
    const target = connect(Number(port), '127.0.0.1').setNoDelay();
    socket.setNoDelay().pipe(target).pipe(socket);
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ])
      one?.on('error', () => other?.destroy());
  });
}

function relayWs() {
  const server = createServer();
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (device, request) => {
    const target = new WebSocket(`ws://127.0.0.1:${port}${request.url}`, { perMessageDeflate: false });
    /** @type {[import('ws').RawData, boolean][]} */
    const early = [];
    device.on('message', (data, binary) => {
      if (target.readyState === target.OPEN) target.send(data, { binary });
      else early.push([data, binary]);
    });
    target.on('open', () => {
      for (const [data, binary] of early) target.send(data, { binary });
    });
    target.on('message', (data, binary) => device.send(data, { binary }));
    target.on('close', () => device.terminate());
    device.on('close', () => target.terminate());
  });
  return server;
}

const server = kind === 'tcp' ? relayTcp() : relayWs();
server.listen(0, '127.0.0.1', () => announce(server));

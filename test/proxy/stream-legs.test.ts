import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type RawData, WebSocket } from 'ws';
import { setUpProxies } from '../helpers/proxies.ts';
import { httpRequest } from '../helpers/raw-http.ts';
import { setUpServices, upgradeByHand } from '../helpers/services.ts';

const services = setUpServices();
const startProxy = setUpProxies();

/** A device and a service, joined by a proxy. */
async function join(options: { protocols?: string[]; headers?: Record<string, string> } = {}) {
  let peer: WebSocket | undefined;
  let seen: NodeJS.Dict<string | string[]> = {};
  const wsUrl = await services.ws(
    (socket, request) => {
      peer = socket;
      seen = request.headers;
      socket.on('error', () => {});
    },
    { autoPong: false, perMessageDeflate: true },
  );
  const proxy = await startProxy({ wsUrl });
  const device = new WebSocket(`${proxy.wsUrl}/voice-stream?a=1`, options.protocols ?? [], {
    autoPong: false,
    headers: options.headers ?? {},
  });
  device.on('error', () => {});
  await once(device, 'open');
  return { proxy, device, service: peer as WebSocket, headers: seen };
}

/** How a socket ends: code and reason. */
async function endOf(socket: WebSocket): Promise<[number, string]> {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
}

const codes = [
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014],
  ...[3000, 3999, 4000, 4401, 4408, 4429, 4999],
];

test('a refusal whose body does not end does not keep the proxy from closing', async () => {
  const { port } = await services.tcp((socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n'),
    ),
  );
  const proxy = await startProxy({ wsUrl: `ws://127.0.0.1:${port}` });
  const device = new WebSocket(`${proxy.wsUrl}/voice-stream`);
  device.on('error', () => {});
  const [, response] = await once(device, 'unexpected-response');
  response.on('error', () => {});
  expect(response.statusCode).toBe(403);
  await proxy.close();
});

test.each([
  ['refuses', (head: string) => ['HTTP/1.1 403 Ferm\u00e9', head, 'Content-Length: 0', '', ''].join('\r\n')],
  ['accepts', undefined],
])(
  'the bytes of headers and status text reach the device unchanged: a service that %s',
  async (_, refuse) => {
    const odd = 'X-Why: ferm\u00e9 \u00c3\u00a9';
    const { port } = await services.tcp((socket) => {
      // In latin1 each character is a byte.
      socket.setDefaultEncoding('latin1');
      if (refuse !== undefined) socket.once('data', () => socket.end(refuse(odd)));
      else upgradeByHand(socket, { headers: `${odd}\r\n`, encoding: 'latin1' });
    });
    const proxy = await startProxy({ wsUrl: `ws://127.0.0.1:${port}` });
    const device = connect(proxy.port, '127.0.0.1');
    device.write(
      httpRequest([
        ...['GET /voice-stream HTTP/1.1', `Host: 127.0.0.1:${proxy.port}`, 'Connection: Upgrade'],
        ...['Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${'A'.repeat(22)}==`],
      ]),
    );
    const [answer] = await once(device, 'data');
    device.destroy();
    const lines = (answer as Buffer).toString('latin1').split('\r\n');
    expect(lines[0]).toBe(
      refuse === undefined ? 'HTTP/1.1 101 Switching Protocols' : 'HTTP/1.1 403 Ferm\u00e9',
    );
    expect(lines).toContain(odd);
  },
);

describe('a stream through a proxy', () => {
  test('keeps the opcode, the bytes, the boundaries and the order of messages', async () => {
    const { device, service } = await join();
    const sent: { data: Buffer; isBinary: boolean }[] = [
      { data: Buffer.from('{"a":1}'), isBinary: false },
      { data: Buffer.alloc(640, 1), isBinary: true },
      { data: Buffer.alloc(0), isBinary: true },
      { data: Buffer.alloc(0), isBinary: false },
      { data: Buffer.of(0xff, 0xfe), isBinary: true },
      { data: Buffer.alloc(1024 * 1024, 7), isBinary: true },
      { data: Buffer.from('é €'), isBinary: false },
    ];
    const sizes = sent.map(({ isBinary, data }) => [isBinary, data.length]);
    for (const [from, to] of [
      [device, service],
      [service, device],
    ] as const) {
      const got: typeof sent = [];
      to.on('message', (data: RawData, isBinary) => got.push({ data: data as Buffer, isBinary }));
      for (const { data, isBinary } of sent) from.send(data, { binary: isBinary });
      await expect.poll(() => got.length, { timeout: 10_000 }).toBe(sent.length);
      expect(got.map(({ isBinary, data }) => [isBinary, data.length])).toEqual(sizes);
      expect(got.every(({ data }, index) => data.equals(sent[index]?.data ?? Buffer.of(1)))).toBe(true);
      to.removeAllListeners('message');
    }
  });

  test('passes pings and pongs on, and answers none itself', async () => {
    const { device, service } = await join();
    device.ping('one');
    expect(String((await once(service, 'ping'))[0])).toBe('one');
    service.pong('two');
    expect(String((await once(device, 'pong'))[0])).toBe('two');
  });

  test.each(codes)(
    'if the device closes with %i, the service gets this code and the reason',
    async (code) => {
      const { device, service } = await join();
      const ends = Promise.all([endOf(device), endOf(service)]);
      device.close(code, 'because');
      expect(await ends).toEqual([
        [code, 'because'],
        [code, 'because'],
      ]);
    },
  );

  test.each(codes)(
    'if the service closes with %i, the device gets this code and the reason',
    async (code) => {
      const { device, service } = await join();
      const ends = Promise.all([endOf(device), endOf(service)]);
      service.close(code, 'because');
      expect(await ends).toEqual([
        [code, 'because'],
        [code, 'because'],
      ]);
    },
  );

  test.each(['device', 'service'] as const)('an empty close from the %s stays empty', async (side) => {
    const joined = await join();
    const ends = Promise.all([endOf(joined.device), endOf(joined.service)]);
    joined[side].close();
    expect(await ends).toEqual([
      [1005, ''],
      [1005, ''],
    ]);
  });

  test.each(['device', 'service'] as const)(
    'if the %s cuts the connection, the other one is cut too',
    async (side) => {
      const joined = await join();
      const ends = Promise.all([endOf(joined.device), endOf(joined.service)]);
      joined[side].terminate();
      expect(await ends).toEqual([
        [1006, ''],
        [1006, ''],
      ]);
      await expect.poll(() => joined.proxy.control.state().streams, { timeout: 10_000 }).toEqual([]);
    },
  );

  test('passes headers and sub-protocols, and negotiates no compression', async () => {
    const { device, service, headers } = await join({
      protocols: ['voice.2', 'voice.1'],
      headers: { Authorization: 'Basic x', 'X-Device': 'lamp', Cookie: 'a=b' },
    });
    expect(headers).toMatchObject({
      authorization: 'Basic x',
      'x-device': 'lamp',
      cookie: 'a=b',
      'sec-websocket-protocol': 'voice.2,voice.1',
    });
    expect(headers['sec-websocket-extensions']).toBeUndefined();
    expect([device.protocol, service.protocol]).toEqual(['voice.2', 'voice.2']);
    expect([device.extensions, service.extensions]).toEqual(['', '']);
  });
});

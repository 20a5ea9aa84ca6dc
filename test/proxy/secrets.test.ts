import { expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import { createSecrets } from '../../src/proxy/secrets.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { setUpProxies } from '../helpers/proxies.ts';
import { rawHttp } from '../helpers/raw-http.ts';
import { setUpServices } from '../helpers/services.ts';
import { openStream } from '../helpers/stream-client.ts';

const services = setUpServices();
const startEmulator = setUpEmulators();
const startProxy = setUpProxies();

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${String(index).padStart(4, '0')}-secret`);
const used = 'sk-used-all-the-time';

test('a key that devices go on using is concealed, however many others come', () => {
  const secrets = createSecrets();
  const redactor = secrets.redactor();
  for (const other of numbered('other', 300)) {
    secrets.learn(used);
    secrets.learn(other);
  }
  expect(redactor.text(`apiKey=${used}`)).not.toContain(used);
});

test('of more secrets than are kept, the newest ones are concealed', () => {
  const secrets = createSecrets();
  const redactor = secrets.redactor();
  const all = numbered('key', 150);
  for (const secret of all) secrets.learn(secret);
  const shown = all.filter((secret) => redactor.text(`say ${secret}`).includes(secret));
  expect(shown).toEqual(all.slice(0, 50));
});

test('a long secret that is learnt again does not push the others out', () => {
  const secrets = createSecrets();
  const redactor = secrets.redactor();
  const long = 'x'.repeat(1024 * 1024);
  secrets.learn(used);
  for (let times = 0; times < 10; times += 1) secrets.learn(long);
  expect(redactor.text(`say ${used}`)).not.toContain(used);
});

const signature = 'c2lnbmF0dXJlLXRoYXQtZ3JhbnRzLWFjY2Vzcw';
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsYW1wIn0.${signature}`;

test.each([
  ['the body itself', 200, jwt],
  ['in another field', 200, JSON.stringify({ access_token: jwt })],
  ['in an inner object', 200, JSON.stringify({ data: { token: jwt } })],
  ['in a field in another case', 201, JSON.stringify({ Token: jwt })],
  ['followed by an end that is missing', 200, `{"token":"${jwt}"`],
  ['cut off in its signature', 200, `{"token":"${jwt.slice(0, -8)}`],
  ['repeated in a refusal', 401, JSON.stringify({ error: { code: 'X', message: `not ${jwt}` } })],
])('a JWT that an answer has in the wrong place is in no event: %s', async (_, status, body) => {
  const service = await services.http((response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Copy': jwt }).end(body);
  });
  const proxy = await startProxy(service);
  const asked = await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    body: '{"apiKey":"key-1","deviceId":"lamp"}',
  });
  expect(await asked.text()).toBe(body);
  await expect.poll(() => proxy.events.some(({ type }) => type === 'request-refused')).toBe(true);
  const shown = JSON.stringify([proxy.events, proxy.control.state()]);
  expect(shown).toContain('[redacted]');
  expect(shown).not.toContain(signature.slice(0, 8));
});

test.each([
  ['in a list', '{"apiKey":["sk-real-key-1"],"deviceId":"lamp"}', 'sk-real-key-1'],
  ['in an object', '{"apiKey":{"value":["sk-real-key-1"]},"deviceId":"lamp"}', 'sk-real-key-1'],
  ['as a number', '{"apiKey":4711081512345,"deviceId":"lamp"}', '4711081512345'],
  ['as api_key', '{"api_key":"sk-real-key-1","deviceId":"lamp"}', 'sk-real-key-1'],
  ['as key', '{"key":"sk-real-key-1","deviceId":"lamp"}', 'sk-real-key-1'],
  ['within another object', '{"auth":{"user":"sk-real-key-1"},"deviceId":"lamp"}', 'sk-real-key-1'],
  ['in a form', 'deviceId=lamp&apiKey=sk-real-key-1', 'sk-real-key-1'],
  ['as a number in a form', 'apiKey=4711081512345&deviceId=lamp', '4711081512345'],
  ['in a list that is cut off', '{"apiKey":["sk-real-key-1"', 'sk-real-key-1'],
])('a key that a device sends %s is in no event, even if the service repeats it', async (_, sent, key) => {
  const service = await services.http((response) => {
    const input = sent.startsWith('{') && sent.endsWith('}') ? sent : JSON.stringify(sent);
    response.writeHead(422, { 'Content-Type': 'application/json' });
    response.end(`{"detail":[{"type":"string_type","input":${input}}]}`);
  });
  const proxy = await startProxy(service);
  await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: sent,
  });
  await expect.poll(() => proxy.events.some(({ type }) => type === 'request-refused')).toBe(true);
  await proxy.close();
  const shown = JSON.stringify([proxy.events, proxy.control.state()]);
  expect(shown).toContain('string_type');
  expect(shown).not.toContain(key);
});

test('a device that a body names among its secrets keeps its name, and a fault for it strikes', async () => {
  const granted = JSON.stringify({ token: jwt });
  const service = await services.http((response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(granted);
  });
  const proxy = await startProxy(service, { faults: ['token-bad-signature:device=lamp-1'] });
  const auth = { type: 'Bearer', deviceId: 'lamp-1' };
  await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    body: JSON.stringify({ apiKey: 'k-123456', deviceId: 'lamp-1', auth }),
  });
  const seen = ({ type }: { type: string }) => type === 'token-issued' || type === 'fault-struck';
  await expect.poll(() => proxy.events.some(({ type }) => type === 'token-issued')).toBe(true);
  const named = { device: 'lamp-1' };
  expect(proxy.events.filter(seen)).toMatchObject([
    { type: 'fault-struck', ...named },
    { type: 'token-issued', ...named },
  ]);
});

test('a JWT in the path of a request that the service refuses is in no event', async () => {
  const service = await services.http((response) => response.writeHead(404).end());
  const proxy = await startProxy(service);
  await fetch(`${proxy.baseUrl}/files/${jwt}`);
  await expect.poll(() => proxy.events.some(({ type }) => type === 'request-refused')).toBe(true);
  const shown = JSON.stringify([proxy.events, proxy.control.state()]);
  expect(shown).toContain('/files/[redacted]');
  expect(shown).not.toContain(signature);
});

test('a body that asks for no token makes nothing secret for others', async () => {
  const service = await services.http((response) => {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('no such lamp-of-the-hall');
  });
  const proxy = await startProxy(service);
  const settings = JSON.stringify({ settings: [{ key: 'lamp-of-the-hall' }] });
  await fetch(`${proxy.baseUrl}/settings`, { method: 'POST', body: settings });
  await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    body: '{"apiKey":"key-1","deviceId":"lamp-of-the-hall"}',
  });
  const refused = () => proxy.events.filter(({ type }) => type === 'request-refused');
  await expect.poll(() => refused().length).toBe(2);
  expect(refused()[1]).toMatchObject({ device: 'lamp-of-the-hall', message: 'no such lamp-of-the-hall' });
});

test('a key in a body that asks for no token is in no event later', async () => {
  const service = await services.http((response) => response.writeHead(404).end());
  const proxy = await startProxy(service);
  const body = '{"apiKey":"sk-real-key-1","deviceId":"lamp"}';
  await fetch(`${proxy.baseUrl}${tokenPath()}/`, { method: 'POST', body });
  await fetch(`${proxy.baseUrl}/files/sk-real-key-1`);
  const refused = () => proxy.events.filter(({ type }) => type === 'request-refused');
  await expect.poll(() => refused().length).toBe(2);
  expect(refused()[1]).toMatchObject({ path: '/files/[redacted]' });
});

test('what a tap throws is shown without the token of its stream and the secrets of its upgrade', async () => {
  const key = 'sk-key-of-the-upgrade';
  let token = '';
  const emulator = await startEmulator();
  const proxy = await startProxy(emulator, {
    tap: () => ({
      message() {
        if (token !== '') throw new Error(`tap: ${token} ${key} ${jwt}`);
      },
    }),
  });
  token = await emulator.token('lamp');
  const device = openStream(proxy.wsUrl, { headers: { 'X-Api-Key': key } });
  await device.opened;
  device.socket.send(token);
  await device.closed;
  const bug = proxy.events.find(({ type }) => type === 'bug');
  expect(bug).toMatchObject({ why: 'Error: tap: [redacted] [redacted] [redacted]' });
});

test('a JWT in the place of a device is in no event', async () => {
  const service = await services.http((response) => response.writeHead(403).end());
  const proxy = await startProxy(service);
  await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    body: JSON.stringify({ apiKey: 'key-1', deviceId: jwt }),
  });
  await expect
    .poll(() => proxy.events.find(({ type }) => type === 'request-refused'))
    .toMatchObject({
      device: '[redacted]',
    });
  expect(JSON.stringify([proxy.events, proxy.control.state()])).not.toContain(signature);
});

test.each([
  [
    'an upgrade with a wrong version',
    ['GET', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 8'],
  ],
  [
    'a body that is too large',
    ['POST', `Content-Length: ${1024 * 1024 + 1}`, '', 'x'.repeat(1024 * 1024 + 1)],
  ],
])('a known key in the path of a request that the proxy refuses is in no event: %s', async (_what, lines) => {
  const service = await services.http((response) => response.writeHead(401).end());
  const proxy = await startProxy(service);
  await fetch(proxy.baseUrl + tokenPath(), {
    method: 'POST',
    body: '{"apiKey":"sk-real-key-1","deviceId":"lamp"}',
  });
  const [method, ...rest] = lines;
  const { port } = new URL(proxy.baseUrl);
  const head = [
    `${method} /voice-stream/sk-real-key-1 HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  await rawHttp(Number(port), [...head, ...rest, '', ''].join('\r\n'));
  const shown = () => JSON.stringify([proxy.events, proxy.control.state()]);
  await expect.poll(shown).toContain('/voice-stream/[redacted]');
  expect(shown()).not.toContain('sk-real-key-1');
});

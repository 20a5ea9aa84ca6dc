import { expect, test } from 'vitest';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { jwt } from '../helpers/device-exchanges.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { openStream } from '../helpers/stream-client.ts';

const startEmulator = setUpEmulators();

/** What the journal tells of how a device asks. */
const ask = (baseUrl: string, headers: Record<string, string>) =>
  fetch(`${baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ apiKey: 'k', deviceId: 'd1' }),
  });
const json = { 'Content-Type': 'application/json', Accept: 'application/json', 'User-Agent': 'kitchen/1.2' };
const sent = { contentType: 'application/json', accept: 'application/json', userAgent: 'kitchen/1.2' };

test('each token request is reported with its headers', async () => {
  const emulator = await startEmulator({
    rateLimit: 1,
    faults: [{ name: 'token-error', skip: 2, times: 1 }],
  });
  await ask(emulator.baseUrl, json);
  await ask(emulator.baseUrl, json);
  await ask(emulator.baseUrl, json);
  await ask(emulator.baseUrl, { ...json, 'Content-Type': 'text/plain' });
  expect(await emulator.event('token-issued')).toMatchObject({ device: 'd1', sent });
  expect(await emulator.event('request-refused')).toMatchObject({ cause: 'rateLimited', sent });
  expect(await emulator.event('fault-struck')).toMatchObject({ fault: 'token-error', device: 'd1', sent });
  expect(
    await emulator.event('request-refused', ({ cause }) => cause === 'unsupportedMediaType'),
  ).toMatchObject({ sent: { ...sent, contentType: 'text/plain' } });
});

test('attempts while the window is closed are in the journal, each with its time', async () => {
  const emulator = await startEmulator({ rateLimit: 1 });
  for (let attempt = 0; attempt < 4; attempt += 1) await ask(emulator.baseUrl, json);
  const refused = emulator.control.journal.read({ type: 'request-refused', device: 'd1' }, 10);
  expect(refused).toHaveLength(3);
  expect(refused.map(({ t }) => t)).toEqual(refused.map(({ t }) => t).toSorted((a, b) => a - b));
});

test('a token that is presented again is identified by its jti', async () => {
  const emulator = await startEmulator();
  const token = await emulator.token('d1');
  const { jti } = await emulator.event('token-issued');
  for (let use = 0; use < 2; use += 1) {
    const client = openStream(emulator.wsUrl);
    await client.opened;
    client.socket.send(token);
    await emulator.until(() => emulator.events.filter(({ type }) => type === 'stream-opened').length > use);
  }
  expect(await emulator.event('token-problem')).toMatchObject({ cause: 'tokenReused', device: 'd1', jti });
});

test('a TLS handshake is in the journal, with its version', async () => {
  const tls = await createCertificate(['127.0.0.1']);
  const emulator = await startEmulator({ tls });
  const client = openStream(emulator.wsUrl, { ca: tls.cert });
  await client.opened;
  expect(await emulator.event('tls-opened')).toMatchObject({ protocol: 'TLSv1.3', remote: '127.0.0.1' });
});

test('faults strike in a fixed order', async () => {
  const emulator = await startEmulator({
    faults: ['token-error:status=500,times=1', 'token-error:status=503,skip=1,times=2'],
  });
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 4; attempt += 1) statuses.push((await ask(emulator.baseUrl, json)).status);
  expect(statuses).toEqual([500, 503, 503, 200]);
});

test('an event about a refused path holds no token', async () => {
  const emulator = await startEmulator();
  const token = jwt(1);
  await fetch(`${emulator.baseUrl}/elsewhere/${token}`);
  expect(emulator.control.journal.read({ type: 'request-refused' }, 10)).toMatchObject([
    { path: '/elsewhere/[redacted]' },
  ]);
});

test('no event holds a part of an accepted key, where a long text is cut', async () => {
  const emulator = await startEmulator({ acceptKeys: ['canary-secret-key'] });
  const long = `${'a'.repeat(190)}/canary-secret-key`;
  await fetch(`${emulator.baseUrl}/${long}`);
  for (const name of ['User-Agent', 'Accept', 'Content-Type'])
    await ask(emulator.baseUrl, { ...json, [name]: long });
  const told = emulator.events.filter(({ type }) => ['request-refused', 'token-issued'].includes(type));
  expect(told).toHaveLength(4);
  expect(JSON.stringify(told)).not.toContain('canary');
});

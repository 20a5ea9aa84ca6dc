import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { requestToken } from '../../../src/wire/client/token.ts';
import { openVoiceStream } from '../../../src/wire/client/voice-stream.ts';

const openssl = 'openssl';
const hasOpenssl = spawnSync(openssl, ['version']).status === 0;
if (!hasOpenssl) console.warn('NOT CHECKED: openssl is not installed; TLS is not tested');

const clock = systemClock;
const { signal } = new AbortController();

describe.skipIf(!hasOpenssl)('an untrusted certificate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-tls-'));
  let server: ReturnType<typeof createServer>;
  let host = '';
  let connections = 0;
  let requests = 0;

  beforeAll(async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-days', '1'];
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject];
    execFileSync(openssl, args, { stdio: 'ignore' });
    server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
      requests += 1;
      response.end('{"token":"t.o.k"}');
    });
    server.on('connection', () => {
      connections += 1;
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  test('ends a token request before the key is sent, and is not retried', async () => {
    const before = connections;
    const asking = requestToken({
      baseUrl: `https://${host}`,
      apiKey: 'key-1',
      deviceId: 'device-1',
      retries: 3,
      clock,
      signal,
    });
    await expect(asking).rejects.toMatchObject({ code: 'tls-failed', exitCode: 4 });
    expect([connections - before, requests]).toEqual([1, 0]);
  });

  test('ends the opening of a stream', async () => {
    const opening = openVoiceStream({
      wsUrl: `wss://${host}`,
      clock,
      signal,
      onAudio() {},
      onMessage() {},
    });
    await expect(opening).rejects.toMatchObject({ code: 'tls-failed', exitCode: 4 });
  });
});

describe('a service without TLS', () => {
  test('is a TLS failure if TLS was requested', async () => {
    const { createServer: createPlain } = await import('node:http');
    const server = createPlain();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const asking = requestToken({
      baseUrl: `https://127.0.0.1:${port}`,
      apiKey: 'key-1',
      deviceId: 'device-1',
      retries: 3,
      clock,
      signal,
    });
    await expect(asking).rejects.toMatchObject({ code: 'tls-failed' });
    await new Promise((resolve) => server.close(resolve));
  });
});

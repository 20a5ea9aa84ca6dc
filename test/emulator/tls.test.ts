import { execFile, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createEmulator } from '../../src/emulator/emulator.ts';
import { tokenPath } from '../../src/protocol/paths.ts';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { openStream } from '../helpers/stream-client.ts';

const startEmulator = setUpEmulators();
const folder = mkdtempSync(join(tmpdir(), 'voicectl-emulator-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the certificate to a file of its own. */
function caFile(certificate: string | undefined, name: string): string {
  const path = join(folder, `${name}.pem`);
  writeFileSync(path, certificate ?? '');
  return path;
}

/** Runs a program to its end, without a word on its standard input. */
function run(
  command: string,
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(command, [...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

const body = JSON.stringify({ apiKey: 'key-1', deviceId: 'd1' });

describe('an emulator with TLS', () => {
  test('speaks HTTPS and WSS to clients that trust its certificate', async () => {
    const emulator = await startEmulator({ tls: true, reply: 'echo' });
    expect(emulator.baseUrl).toBe(`https://127.0.0.1:${emulator.port}`);
    expect(emulator.wsUrl).toBe(`wss://127.0.0.1:${emulator.port}`);
    const asking = request(emulator.baseUrl + tokenPath(), {
      method: 'POST',
      ca: emulator.certificate,
      headers: { 'Content-Type': 'application/json' },
    }).end(body);
    const [response] = await once(asking, 'response');
    const { token } = JSON.parse((await response.toArray()).join('')) as { token: string };

    const client = openStream(emulator.wsUrl, { ca: emulator.certificate! });
    await client.opened;
    await client.send(token);
    await client.connected;
    await client.send(Buffer.alloc(640, 7));
    await client.until(() => client.audio.equals(Buffer.alloc(640, 7)));
    client.socket.close();
    await client.closed;
  });

  test('has a certificate for the names of this machine, and for those that it was given', async () => {
    const emulator = await startEmulator({
      tls: true,
      allowHosts: ['Workstation.lan', '192.0.2.77', 'münchen.lan'],
    });
    const certificate = new X509Certificate(emulator.certificate!);
    for (const name of ['localhost', hostname(), 'workstation.lan', 'xn--mnchen-3ya.lan'])
      expect(certificate.checkHost(name)).toBeDefined();
    for (const address of ['127.0.0.1', '::1', '192.0.2.77'])
      expect(certificate.checkIP(address)).toBeDefined();
    expect(certificate.checkHost('voice.example')).toBeUndefined();
    expect(certificate.ca).toBe(false);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 300 * 86_400_000);
  });

  test('makes another certificate each time', async () => {
    const [one, other] = await Promise.all([startEmulator({ tls: true }), startEmulator({ tls: true })]);
    expect(one.certificate).not.toBe(other.certificate);
  });

  test('accepts a certificate and its key', async () => {
    const { cert, key } = await createCertificate(['127.0.0.1']);
    const emulator = await startEmulator({ tls: { cert, key } });
    expect(emulator.certificate).toBe(cert);
    const socket = connect({ port: emulator.port, host: '127.0.0.1', ca: cert });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
  });

  test('refuses to start with the key of another certificate, or with neither, and shows no key', async () => {
    const { cert, key } = await createCertificate(['127.0.0.1']);
    const other = await createCertificate(['127.0.0.1']);
    const pairs = [
      { cert, key: other.key },
      { cert, key: 'canary' },
      { cert: 'canary', key },
      { cert: '', key: '' },
    ];
    for (const tls of pairs) {
      const error = await createEmulator({ tls }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'bad-input', exitCode: 2 });
      expect(JSON.stringify([error.message, error.hint, error.details])).not.toMatch(/canary|PRIVATE/);
    }
  });

  test('reports a client that speaks plain HTTP, and serves the others', async () => {
    const emulator = await startEmulator({ tls: true });
    const socket = connectTcp({ port: emulator.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await once(socket, 'close');
    expect(await emulator.event('tls-failed')).toMatchObject({
      remote: '127.0.0.1',
      why: expect.stringContaining('plain HTTP'),
    });
    const asking = request(emulator.baseUrl, { ca: emulator.certificate }).end();
    const [response] = await once(asking, 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
  });

  test('reports a client that does not trust it', async () => {
    const emulator = await startEmulator({ tls: true });
    const { cert: ca } = await createCertificate(['127.0.0.1']);
    const socket = connect({ port: emulator.port, host: '127.0.0.1', ca });
    const refused = new Promise((resolve) => socket.once('error', resolve));
    expect(await refused).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(await emulator.event('tls-failed')).toMatchObject({
      remote: '127.0.0.1',
      why: 'it hung up during the handshake',
    });
  });

  test('reports a handshake that does not end, once, and one that makes no sense', async () => {
    const emulator = await startEmulator({ tls: true });
    const socket = connectTcp({ port: emulator.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write('\x16\x03\x01\x00\x04\x0b\x00\x00\x00', 'latin1');
    await once(socket.resume(), 'close');
    const { remote, why } = await emulator.event('tls-failed');
    expect(remote).toBe('127.0.0.1');
    expect(why).toMatch(/^[a-z ]+$/);
    expect(emulator.events.filter(({ type }) => type === 'request-refused')).toEqual([]);
  });

  test('reports a peer that begins no handshake, and disconnects it', async () => {
    const emulator = await startEmulator({ tls: true });
    const socket = connectTcp({ port: emulator.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    await once(socket.resume(), 'close');
    expect(await emulator.event('tls-failed')).toMatchObject({
      remote: '127.0.0.1',
      why: 'the handshake did not finish in time',
    });
  }, 30_000);

  test.each([
    ['before its handshake', ''],
    ['within its handshake', '\x16\x03\x01'],
  ])('closes without waiting for a peer that is silent %s', async (_name, bytes) => {
    const emulator = await startEmulator({ tls: true });
    const socket = connectTcp({ port: emulator.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(bytes);
    // The emulator has seen it once it answers somebody who came later.
    const asking = request(emulator.baseUrl, { ca: emulator.certificate, agent: false }).end();
    const [response] = await once(asking, 'response');
    response.resume();
    await emulator.close();
    await new Promise<void>((resolve) =>
      socket.destroyed ? resolve() : socket.once('close', () => resolve()),
    );
  });

  test('resets connections if faults say so', async () => {
    const emulator = await startEmulator({ tls: true });
    const ca = emulator.certificate!;
    const { add, clear } = emulator.control.faults;
    const ask = () =>
      request(emulator.baseUrl + tokenPath(), {
        method: 'POST',
        ca,
        agent: false,
        headers: { 'Content-Type': 'application/json' },
      }).end(body);
    add({ name: 'token-reset' });
    await expect(once(ask(), 'response')).rejects.toMatchObject({ code: 'ECONNRESET' });
    clear();
    const [response] = await once(ask(), 'response');
    const { token } = JSON.parse((await response.toArray()).join('')) as { token: string };
    add({ name: 'upgrade-reset' });
    await expect(openStream(emulator.wsUrl, { ca }).opened).rejects.toMatchObject({ code: 'ECONNRESET' });
    clear();
    const client = openStream(emulator.wsUrl, { ca });
    await client.opened;
    await client.send(token);
    await client.connected;
    add({ name: 'reset' });
    expect(await client.closed).toMatchObject({ code: 1006 });
  });

  test('refuses a Host that is not its own, as without TLS', async () => {
    const emulator = await startEmulator({ tls: true });
    const asking = request(emulator.baseUrl, {
      ca: emulator.certificate,
      servername: 'localhost',
      headers: { Host: 'evil.example' },
    }).end();
    const [response] = await once(asking, 'response');
    expect(response.statusCode).toBe(403);
    response.resume();
  });
});

const openssl = 'openssl';
const hasOpenssl = spawnSync(openssl, ['version']).status === 0;
if (!hasOpenssl) console.warn('NOT CHECKED: openssl is not installed; the certificate is not verified by it');

describe.skipIf(!hasOpenssl)('to openssl', () => {
  test('the certificate is valid by its strict rules, and is the one that is shown', async () => {
    const emulator = await startEmulator({ tls: true });
    const file = caFile(emulator.certificate, 'openssl');
    const verified = await run(openssl, [
      'verify',
      '-x509_strict',
      '-purpose',
      'sslserver',
      '-CAfile',
      file,
      file,
    ]);
    expect(verified).toMatchObject({ code: 0, stdout: `${file}: OK\n` });
    const args = [
      's_client',
      '-connect',
      `127.0.0.1:${emulator.port}`,
      '-CAfile',
      file,
      '-verify_return_error',
    ];
    for (const name of [
      ['-verify_ip', '127.0.0.1'],
      ['-verify_hostname', 'localhost'],
    ]) {
      const shown = await run(openssl, [...args, ...name]);
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Verify return code: 0 (ok)') });
    }
    expect((await run(openssl, [...args, '-verify_hostname', 'voice.example'])).code).not.toBe(0);
  });

  test('versions of TLS before 1.2 are refused', async () => {
    const emulator = await startEmulator({ tls: true });
    const args = [
      's_client',
      '-connect',
      `127.0.0.1:${emulator.port}`,
      '-tls1_1',
      '-cipher',
      'ALL:@SECLEVEL=0',
    ];
    expect((await run(openssl, args)).code).not.toBe(0);
  });
});

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.warn('NOT CHECKED: curl is not installed; TLS is not tested with it');

describe.skipIf(!hasCurl)('to curl', () => {
  test('it answers with --cacert, and does not connect without it', async () => {
    const emulator = await startEmulator({ tls: true });
    const json = ['-H', 'Content-Type: application/json', '-d', body];
    const url = emulator.baseUrl.replace('127.0.0.1', 'localhost') + tokenPath();
    const trusting = await run('curl', [
      '-sS',
      '--cacert',
      caFile(emulator.certificate, 'curl'),
      ...json,
      url,
    ]);
    expect(JSON.parse(trusting.stdout)).toEqual({ token: expect.any(String) });
    expect(await run('curl', ['-sS', ...json, url])).toMatchObject({ code: 60, stdout: '' });
    expect(await emulator.event('tls-failed')).toMatchObject({
      remote: '127.0.0.1',
      why: 'it does not trust the certificate',
    });
    expect(emulator.events.filter(({ type }) => type === 'token-issued')).toHaveLength(1);
  });
});

const python = '/usr/bin/python3';
const hasWebsockets = spawnSync(python, ['-c', 'import websockets']).status === 0;
if (!hasWebsockets)
  console.warn(
    'NOT CHECKED: /usr/bin/python3 has no websockets (Debian: python3-websockets); TLS is not tested with it',
  );

describe.skipIf(!hasWebsockets)('to python3-websockets', () => {
  const program = fileURLToPath(new URL('../foreign/client.py', import.meta.url));
  const converse = (baseUrl: string, ...args: string[]) =>
    run(python, [
      program,
      '--json',
      '--base-url',
      baseUrl,
      '--pace',
      'max',
      '--quiet',
      '1',
      '--wait',
      '5',
      ...args,
    ]);

  test('it serves a whole session over HTTPS and WSS', async () => {
    const emulator = await startEmulator({ tls: true, reply: 'echo' });
    const { stdout } = await converse(emulator.baseUrl, '--cafile', caFile(emulator.certificate, 'python'));
    const { stream } = JSON.parse(stdout);
    expect(stream).toMatchObject({ handshakeStatus: 101, connected: true, audioBytesIn: 32_000 });
    expect(stream.heardSha256).toBe(stream.sentSha256);
  });

  test('it cannot be reached without its certificate', async () => {
    const emulator = await startEmulator({ tls: true });
    const { stdout } = await converse(emulator.baseUrl);
    expect(JSON.parse(stdout).token.error).toContain('CERTIFICATE_VERIFY_FAILED');
    expect(emulator.events.some(({ type }) => type === 'token-issued')).toBe(false);
  });
});

import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

/** A second machine, as far as the network can tell: a namespace at the other end of a cable. */
const id = process.pid % 60_000;
const other = `voicectl-${id}`;
const [ours, theirs] = [`vc${id}a`, `vc${id}b`];
/** In the networks for benchmarks and documentation (RFC 2544, RFC 3849), different for each run. */
const v4 = (host: number) => `198.${18 + (id & 1)}.${(id >> 1) & 255}.${host}`;
const v6 = (host: number) => `2001:db8:${id.toString(16)}::${host}`;
const address = { v4: v4(1), v6: v6(1) };

/** The text, escaped for a regular expression. */
const literal = (text: string) => text.replaceAll(/[.[\]]/g, '\\$&');

const ip = (...args: string[]) => spawnSync('ip', args).status === 0;
const connect = () =>
  ip('netns', 'add', other) &&
  ip('link', 'add', ours, 'type', 'veth', 'peer', 'name', theirs, 'netns', other);
const disconnect = () => ip('netns', 'del', other);
const hasNetworks = connect();
disconnect();
if (!hasNetworks) {
  console.warn(
    'NOT CHECKED: no network namespace can be made (iproute2, as root); an emulator is not called from another machine',
  );
}

/** Runs a program on the other machine. */
function there(...command: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile('ip', ['netns', 'exec', other, ...command], { cwd: sandbox.dir }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const ask = [
  '-sS',
  '-m',
  '10',
  '-H',
  'Content-Type: application/json',
  '-d',
  '{"apiKey":"key-1","deviceId":"d1"}',
];
const keys = ['--accept-key', 'key-1'];

describe.skipIf(!hasNetworks)('from another machine of the network', () => {
  beforeAll(() => {
    expect(connect()).toBe(true);
    // Without `nodad` an IPv6 address is not usable for its first seconds.
    ip('address', 'add', `${v4(1)}/24`, 'dev', ours);
    ip('address', 'add', `${v6(1)}/64`, 'dev', ours, 'nodad');
    ip('link', 'set', ours, 'up');
    ip('-n', other, 'address', 'add', `${v4(2)}/24`, 'dev', theirs);
    ip('-n', other, 'address', 'add', `${v6(2)}/64`, 'dev', theirs, 'nodad');
    ip('-n', other, 'link', 'set', theirs, 'up');
  });
  afterAll(() => void disconnect());

  test('an emulator on loopback cannot be reached', async () => {
    const { baseUrl } = await sandbox.serveHere();
    const { code } = await there('curl', ...ask, `http://${address.v4}:${new URL(baseUrl).port}/`);
    expect(code).toBe(7);
  });

  test('one on 0.0.0.0 prints the URLs to type, and they work', async () => {
    const serve = await sandbox.startHere(['serve', '--port', '0', '--host', '0.0.0.0', ...keys]);
    const line = await serve.line(
      new RegExp(` http://${literal(address.v4)}:\\d+/api/websocket-voice/token$`),
    );
    await serve.line(new RegExp(`^ +ws://${literal(address.v4)}:\\d+/voice-stream$`));
    const url = line.slice(line.indexOf('http'));
    const { stdout } = await there('curl', ...ask, url);
    expect(JSON.parse(stdout)).toEqual({ token: expect.any(String) });
    expect(serve.stdout).not.toContain('2001:db8');
  });

  test.each([
    ['as it is written', address.v6],
    ['in full', `2001:0DB8:${id.toString(16).toUpperCase()}:0000:0000:0000:0000:0001`],
  ])('one on :: is reachable at the IPv6 address %s, and at the IPv4 address', async (_name, written) => {
    const serve = await sandbox.startHere(['serve', '--port', '0', '--host', '::', ...keys]);
    const line = await serve.line(new RegExp(`ws://${literal(`[${address.v6}]`)}:`));
    const port = /:(\d+)\/voice-stream$/.exec(line)?.[1];
    await serve.line(new RegExp(literal(address.v4)));
    for (const host of [`[${written}]`, address.v4]) {
      const { stdout } = await there(
        'curl',
        '-g',
        ...ask,
        `http://${host}:${port}/api/websocket-voice/token`,
      );
      expect(JSON.parse(stdout)).toEqual({ token: expect.any(String) });
    }
  });

  test('one on the address of one network prints that address, and is not reachable on loopback', async () => {
    const serve = await sandbox.serveHere(['--host', address.v4, ...keys]);
    expect(new URL(serve.baseUrl).hostname).toBe(address.v4);
    const { stdout } = await there('curl', ...ask, `${serve.baseUrl}/api/websocket-voice/token`);
    expect(JSON.parse(stdout)).toEqual({ token: expect.any(String) });
    const { port } = new URL(serve.baseUrl);
    expect((await sandbox.shell(`curl -sS http://127.0.0.1:${port}/`)).code).toBe(7);
  });

  test('its control API is out of reach, even with the secret', async () => {
    const env = { VOICECTL_CONTROL_SECRET: 'secret-1' };
    const serve = await sandbox.serveHere(['--host', '0.0.0.0', ...keys], { env });
    const url = `http://${address.v4}:${new URL(serve.baseUrl).port}/__voicectl/state`;
    const { stdout } = await there('curl', '-sS', '-m', '10', '-H', 'Authorization: Bearer secret-1', url);
    expect(JSON.parse(stdout)).toHaveProperty('error.code', 'FORBIDDEN');
  });

  test('with TLS its certificate is valid for the address, the name of the machine, and --allow-host', async () => {
    const serve = await sandbox.serveHere([
      ...['--tls', '--cert-out', 'cert.pem', '--host', '0.0.0.0', '--allow-host', 'workstation.lan', ...keys],
    ]);
    const { port } = new URL(serve.baseUrl);
    const named = [
      '--resolve',
      `workstation.lan:${port}:${address.v4}`,
      '--resolve',
      `other.lan:${port}:${address.v4}`,
    ];
    const call = (host: string) =>
      there(
        'curl',
        '--cacert',
        'cert.pem',
        ...named,
        ...ask,
        `https://${host}:${port}/api/websocket-voice/token`,
      );
    for (const host of [address.v4, 'workstation.lan'])
      expect(JSON.parse((await call(host)).stdout)).toEqual({ token: expect.any(String) });
    expect((await call('other.lan')).code).toBe(60);
  });

  const python = '/usr/bin/python3';
  test.skipIf(spawnSync(python, ['-c', 'import websockets']).status !== 0)(
    'a foreign client completes a session over WSS',
    async () => {
      const args = ['--tls', '--cert-out', 'cert.pem', '--host', '0.0.0.0', '--reply', 'echo', ...keys];
      const { port } = new URL((await sandbox.serveHere(args)).baseUrl);
      const client = fileURLToPath(new URL('../foreign/client.py', import.meta.url));
      const { stdout } = await there(
        ...[python, client, '--json', '--base-url', `https://${address.v4}:${port}`, '--cafile', 'cert.pem'],
        ...['--api-key', 'key-1', '--pace', 'max', '--quiet', '1', '--wait', '5'],
      );
      const { stream } = JSON.parse(stdout);
      expect(stream).toMatchObject({ handshakeStatus: 101, connected: true, audioBytesIn: 32_000 });
      expect(stream.heardSha256).toBe(stream.sentSha256);
    },
  );
});

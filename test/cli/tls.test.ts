import { once } from 'node:events';
import { request } from 'node:https';
import { describe, expect, test } from 'vitest';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { fixture, jsonLines, setUpSandbox, summaryOf } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const message = /^voicectl: .+\n( {2}.+\n){0,2}$/;

describe('serve --tls', () => {
  test('prints https and wss, and with --cert-out a curl line that works as shown', async () => {
    const cert = sandbox.path('my cert.pem');
    const serve = await sandbox.startHere(['serve', '--tls', '--port', '0', '--cert-out', cert]);
    const line = (await serve.line(/curl/)).replace(/^\s*try\s+/, '');
    expect(line).toContain(`--cacert '${cert}'`);
    expect(await serve.line(/token {3}/)).toMatch(
      / https:\/\/127\.0\.0\.1:\d+\/api\/websocket-voice\/token$/,
    );
    expect(await serve.line(/stream {2}/)).toMatch(/ wss:\/\/127\.0\.0\.1:\d+\/voice-stream$/);
    const { code, stdout, stderr } = await sandbox.shell(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ token: expect.any(String) });
    expect(sandbox.read('my cert.pem')).toMatch(
      /^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n?$/,
    );
  });

  test('without --cert-out the curl line does not check the certificate, says so, and works too', async () => {
    const serve = await sandbox.startHere(['serve', '--tls', '--port', '0']);
    const line = (await serve.line(/curl -sS/)).replace(/^\s*try\s+/, '');
    expect(line).toContain('curl -sS -k ');
    expect(await serve.line(/trust/)).toContain('--cert-out FILE');
    expect(JSON.parse((await sandbox.shell(line)).stdout)).toEqual({ token: expect.any(String) });
  });

  test('has the certificate in the ready file, and in --cert-out, before it says that it listens', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem', '--ready-file', 'ready.json']);
    const { baseUrl, certificate } = JSON.parse(sandbox.read('ready.json')) as Record<string, string>;
    expect(baseUrl).toBe(serve.baseUrl);
    expect(certificate).toBe(sandbox.read('cert.pem'));
    const [response] = await once(request(serve.baseUrl, { ca: certificate }).end(), 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
  });

  test('accepts the user’s own certificate; --cert and --tls-key alone turn TLS on', async () => {
    const { cert, key } = await createCertificate(['127.0.0.1']);
    const files = [sandbox.write('cert.pem', cert), sandbox.write('key.pem', key, 0o600)] as const;
    const serve = await sandbox.startHere([
      'serve',
      '--port',
      '0',
      '--cert',
      files[0],
      '--tls-key',
      files[1],
    ]);
    const line = (await serve.line(/curl/)).replace(/^\s*try\s+/, '');
    expect(line).toContain(`--cacert '${files[0]}'`);
    expect(JSON.parse((await sandbox.shell(line)).stdout)).toEqual({ token: expect.any(String) });
  });

  test('with a certificate for other names prints a curl line that does not check it', async () => {
    const { cert, key } = await createCertificate(['voice.example']);
    const files = [sandbox.write('cert.pem', cert), sandbox.write('key.pem', key, 0o600)] as const;
    const serve = await sandbox.startHere([
      'serve',
      '--port',
      '0',
      '--cert',
      files[0],
      '--tls-key',
      files[1],
    ]);
    expect(await serve.line(/curl -sS/)).toContain('curl -sS -k ');
  });

  test('does not empty the certificate file of a running serve when it cannot start itself', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const before = sandbox.read('cert.pem');
    const port = new URL(serve.baseUrl).port;
    const second = await sandbox.runHere(['serve', '--tls', '--port', port, '--cert-out', 'cert.pem']);
    expect(second.code).toBe(2);
    expect(sandbox.read('cert.pem')).toBe(before);
  });

  test('a certificate that cannot be written ends it with 8', async () => {
    const { code, stdout, stderr } = await sandbox.runHere([
      'serve',
      '--tls',
      '--port',
      '0',
      '--cert-out',
      'no/cert.pem',
    ]);
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test.each([
    ['a certificate without a key', ['--cert', 'cert.pem'], '--cert needs --tls-key'],
    ['a key without a certificate', ['--tls-key', 'key.pem'], '--tls-key needs --cert'],
    ["another certificate's key", ['--cert', 'cert.pem', '--tls-key', 'other.pem'], 'key values mismatch'],
    ['an invalid key', ['--cert', 'cert.pem', '--tls-key', 'text.pem'], 'cannot be used'],
    ['an empty certificate', ['--cert', 'empty.pem', '--tls-key', 'key.pem'], 'cannot be used'],
    ['a missing certificate', ['--cert', 'missing.pem', '--tls-key', 'key.pem'], 'missing.pem'],
    ['a key that is a folder', ['--cert', 'cert.pem', '--tls-key', '.'], 'Cannot read .'],
    ['--cert-out without TLS', ['--cert-out', 'out.pem'], '--cert-out needs --tls'],
  ])('refuses %s with a reason, and shows no key', async (_name, args, reason) => {
    const own = await createCertificate(['127.0.0.1']);
    const other = await createCertificate(['127.0.0.1']);
    sandbox.write('cert.pem', own.cert);
    sandbox.write('key.pem', own.key);
    sandbox.write('other.pem', other.key);
    sandbox.write('text.pem', 'canary');
    sandbox.write('empty.pem', '');
    const { code, stdout, stderr } = await sandbox.runHere(['serve', '--port', '0', ...args, '--debug']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).not.toMatch(/canary|PRIVATE KEY/);
  });
});

describe('a client of an emulator with TLS', () => {
  test('completes a session with --ca, and with NODE_EXTRA_CA_CERTS', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem', '--reply', 'echo']);
    const args = [
      'stream',
      '--base-url',
      serve.baseUrl,
      '--file',
      fixture('cough.wav'),
      '--pace',
      'max',
      '--tail',
      '0',
      '--settle',
      '200ms',
      '--json',
    ];
    const ways = [
      sandbox.runHere([...args, '--expect-audio', '--ca', 'cert.pem']),
      sandbox.run([...args, '--expect-audio'], { env: { NODE_EXTRA_CA_CERTS: sandbox.path('cert.pem') } }),
      sandbox.runHere([...args, '--expect-audio'], { env: { VOICECTL_CA: 'cert.pem' } }),
    ];
    for (const { code, stdout } of await Promise.all(ways)) {
      expect(code).toBe(0);
      expect(summaryOf(stdout)).toMatchObject({ ok: true, close: { code: 1000 } });
    }
  });

  test('reads published keys with --ca too', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const keys = `${serve.baseUrl}/keys`;
    const args = ['check', '--base-url', serve.baseUrl, '--rule', 'R9', '--jwks', keys];
    const { code, stderr } = await sandbox.runHere([...args, '--ca', 'cert.pem']);
    // The emulator publishes none.
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`No key set at ${keys}: it answered 404`),
    });
    expect((await sandbox.runHere(args)).code).toBe(4);
  });

  test('fails without --ca: exit 4, how to fix it, and no key was sent', async () => {
    const serve = await sandbox.serveHere(['--tls']);
    const { code, stdout, stderr } = await sandbox.runHere([
      'token',
      '--base-url',
      serve.baseUrl,
      '--retries',
      '0',
    ]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('--ca FILE');
    await serve.line(/"type":"tls-failed"/);
    expect(jsonLines(serve.stdout).map(({ type }) => type)).toEqual(['listening', 'tls-failed']);
  });

  test('that trusts only another certificate does not trust this one', async () => {
    const serve = await sandbox.serveHere(['--tls']);
    sandbox.write('other.pem', (await createCertificate(['127.0.0.1'])).cert);
    const args = ['--base-url', serve.baseUrl, '--ca', 'other.pem'];
    expect((await sandbox.runHere(['token', ...args, '--retries', '0'])).code).toBe(4);
    expect((await sandbox.runHere(['emulator', 'state', ...args])).code).toBe(4);
  });

  test('that uses a name that is not in the certificate is told so', async () => {
    const { cert, key } = await createCertificate(['voice.example']);
    sandbox.write('cert.pem', cert);
    sandbox.write('key.pem', key);
    const serve = await sandbox.serveHere(['--cert', 'cert.pem', '--tls-key', 'key.pem']);
    const { code, stderr } = await sandbox.runHere([
      'token',
      '--base-url',
      serve.baseUrl,
      '--ca',
      'cert.pem',
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain('The certificate is for other host names');
  });

  test.each([
    ['is not there', undefined],
    ['has no certificate', 'hello'],
    ['is empty', ''],
    ['has a damaged one', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('refuses a --ca file that %s', async (_name, text) => {
    if (text !== undefined) sandbox.write('ca.pem', text);
    const { code, stderr } = await sandbox.runHere([
      'token',
      '--base-url',
      'https://127.0.0.1:9',
      '--ca',
      'ca.pem',
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toContain('ca.pem');
  });

  test('controls it: state, clock, and a journal that is followed until the emulator ends', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const at = ['--base-url', serve.baseUrl, '--ca', 'cert.pem'];
    const follow = await sandbox.startHere([
      'emulator',
      'journal',
      '--follow',
      '--json',
      '--base-url',
      serve.baseUrl,
      '--ca',
      sandbox.path('cert.pem'),
    ]);
    // Following begins some time after the start: events are emitted until the first is seen, but fewer than a device's limit.
    const ask = async () => {
      expect((await sandbox.runHere(['token', ...at, '--retries', '0'])).code).toBe(0);
      return follow.stdout;
    };
    await expect.poll(ask, { timeout: 20_000, interval: 400 }).toContain('token-issued');
    expect((await sandbox.runHere(['emulator', 'clock', 'advance', '61s', ...at])).stdout).toContain(
      '61 s ahead',
    );
    expect((await sandbox.runHere(['emulator', 'state', ...at])).stdout).toContain('61 s ahead');
    serve.signal('SIGTERM');
    expect((await serve.ended).code).toBe(0);
    expect(await follow.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('has --cacert in the curl commands of check', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const args = ['check', '--base-url', serve.baseUrl, '--again', 'E1', '--ca', 'cert.pem'];
    const { code, stdout } = await sandbox.runHere(args, { env: { VOICECTL_API_KEY: 'k' } });
    expect(code).toBe(0);
    const line =
      stdout
        .split('\n')
        .find((one) => one.includes('curl '))
        ?.trim() ?? '';
    expect(line).toContain("curl -sS --cacert 'cert.pem' -i -X POST 'https://");
    const again = await sandbox.shell(line, { env: { VOICECTL_API_KEY: 'k' } });
    expect({ code: again.code, stdout: again.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('"token"'),
    });
  });

  test('has --cacert in the line of token --curl', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const line = await sandbox.runHere(['token', '--curl', '--base-url', serve.baseUrl, '--ca', 'cert.pem']);
    const { stdout } = await sandbox.shell(line.stdout, { env: { VOICECTL_API_KEY: 'any' } });
    expect(JSON.parse(stdout)).toEqual({ token: expect.any(String) });
  });
});

describe('exec --tls', () => {
  test('gives the command TLS addresses that Node, curl and voicectl trust, in addition to what NODE_EXTRA_CA_CERTS already named', async () => {
    const serve = await sandbox.serveHere(['--tls', '--cert-out', 'cert.pem']);
    const script = [
      'voicectl token >/dev/null && echo voicectl',
      `curl -sS -o /dev/null -w '%{http_code}\\n' --cacert "$VOICECTL_CA" "$VOICECTL_BASE_URL"`,
      `node -e 'for (const url of process.argv.slice(1)) fetch(url).then(({ status }) => console.log(status))' "$VOICECTL_BASE_URL" ${serve.baseUrl}`,
      'echo "$VOICECTL_WS_URL $VOICECTL_CA"',
    ].join('; ');
    await sandbox.standIn();
    const { code, stdout, stderr } = await sandbox.run(['exec', '--tls', '--', 'sh', '-c', script], {
      env: { NODE_EXTRA_CA_CERTS: sandbox.path('cert.pem') },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^voicectl\n200\n200\n200\nwss:\/\/127\.0\.0\.1:\d+ \/\S+\n$/);
    const file = stdout.trim().split(' ').at(-1);
    expect((await sandbox.shell(`ls ${file}`)).code).not.toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { tokenPath } from '../../src/protocol/paths.ts';
import { createCertificate } from '../../src/wire/server/self-signed.ts';
import { hasRedisTls, startRedis } from '../helpers/redis.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';

const sandbox = setUpSandbox();

describe.skipIf(!hasRedisTls)('a Redis with TLS', () => {
  const begin = async () => {
    // The certificate is not valid for the address 127.0.0.1.
    const { cert, key } = await createCertificate(['localhost']);
    const files = { cert: sandbox.write('redis.pem', cert), key: sandbox.write('redis.key', key) };
    const redis = await startRedis(['--requirepass', 'open-sesame'], files);
    sandbox.defer(redis.stop);
    const at = (host: string, password = 'open-sesame') => ({
      VOICECTL_SHARED: `rediss://:${password}@${host}:${redis.port}`,
    });
    return { at, trust: { NODE_EXTRA_CA_CERTS: files.cert } };
  };

  test('is shared by emulators that trust its certificate: 60 of 70 tokens at once', async () => {
    const { at, trust } = await begin();
    const env = { ...at('localhost'), ...trust };
    const emulators = await Promise.all([sandbox.serve([], { env }), sandbox.serve([], { env })]);
    const statuses = await Promise.all(
      emulators.flatMap(({ baseUrl }) =>
        Array.from({ length: 35 }, async () => {
          const { status } = await fetch(baseUrl + tokenPath(), {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ apiKey: 'k', deviceId: 'd' }),
          });
          return status;
        }),
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    for (const { stdout, stderr } of emulators) expect(stdout + stderr).not.toContain('sesame');
  });

  test('that is not trusted, has another name or refuses the password prevents the start, with one line', async () => {
    const { at, trust } = await begin();
    const serve = ['serve', '--port', '0'];
    const [untrusted, otherName, wrongPassword] = await Promise.all([
      sandbox.runHere(serve, { env: at('localhost') }),
      // Node reads the trusted authorities when a process starts.
      sandbox.run(serve, { env: { ...at('127.0.0.1'), ...trust } }),
      sandbox.run(serve, { env: { ...at('localhost', 'sesame-shut'), ...trust } }),
    ]);
    expect(untrusted).toMatchObject({ code: 4, stderr: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED') });
    expect(untrusted?.stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect(otherName).toMatchObject({ code: 4, stderr: expect.stringContaining('for other host names') });
    expect(wrongPassword).toMatchObject({ code: 2, stderr: expect.stringContaining('refuses the user or') });
    for (const ended of [untrusted, otherName, wrongPassword]) {
      // The line, and what to do about it.
      expect(ended?.stderr.trim().split('\n')).toHaveLength(2);
      expect(`${ended?.stdout}${ended?.stderr}`).not.toContain('sesame');
    }
  });
});

import { expect, test } from 'vitest';
import { createCertificate } from '../../../src/wire/server/self-signed.ts';
import { setUpEmulators } from '../../helpers/emulators.ts';
import { runInProcess } from '../../helpers/in-process.ts';
import { createManualClock } from '../../helpers/manual-clock.ts';
import { setUpSandbox } from '../../helpers/voicectl.ts';

const sandbox = setUpSandbox();
const startEmulator = setUpEmulators();
const listen = ['--sessions', '2', '--task', 'listen', '--hold', '200ms', '--json', '--processes', 'none'];

test('neither the key nor a token is in any output of load', async () => {
  const key = 'canary-key-of-the-user';
  const clock = createManualClock();
  const { baseUrl } = await startEmulator({ clock, acceptKeys: [key] });
  const names = ['r.json', 'r.xml', 'r.html'].map((name) => sandbox.path(name));
  const [out = '', junit = '', html = ''] = names;
  const { stdout, stderr } = await runInProcess(
    [
      ...['load', '--base-url', baseUrl, ...listen, '--debug'],
      ...['--out', out, '--junit', junit, '--html', html],
    ],
    { clock, env: { VOICECTL_API_KEY: key } },
  );
  expect(stdout).toContain('"arrived":2,"confirmed":2,"done":2');
  const files = ['r.json', 'r.xml', 'r.html'].map((name) => sandbox.read(name));
  expect([stdout, stderr, ...files].join('\n')).not.toMatch(/canary-key|eyJ[\w-]{10,}\./);
});

test('TLS works with a trusted certificate, and is refused with another', async () => {
  const certificate = await createCertificate(['127.0.0.1', 'localhost']);
  const clock = createManualClock();
  const { baseUrl } = await startEmulator({ clock, tls: certificate });
  const load = (args: readonly string[]) =>
    runInProcess(['load', '--base-url', baseUrl, ...listen, ...args], { clock });
  sandbox.write('cert.pem', certificate.cert);
  expect((await load(['--ca', sandbox.path('cert.pem')])).stdout).toContain(
    '"arrived":2,"confirmed":2,"done":2',
  );
  const { code, stdout } = await load([]);
  expect(stdout).toContain('"failures":{"tls":2}');
  expect(code).toBe(1);
});

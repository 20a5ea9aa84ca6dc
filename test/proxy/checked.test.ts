import { expect, test } from 'vitest';
import { hastyClock } from '../helpers/hasten.ts';
import { runInProcess } from '../helpers/in-process.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { setUpProxies } from '../helpers/proxies.ts';

const startProxy = setUpProxies();

test('a check of a service behind a proxy does not move the clock of the proxy in its place', async () => {
  await using service = await startMiniService({});
  const proxy = await startProxy(service, { clock: hastyClock });
  const { code, stdout } = await runInProcess(['check', '--base-url', proxy.baseUrl, '--level', 'standard'], {
    clock: hastyClock,
    env: { VOICECTL_API_KEY: 'a-key-for-tests' },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('0 fail') });
  expect(proxy.control.time()).toMatchObject({ aheadMs: 0, proxy: true });
});

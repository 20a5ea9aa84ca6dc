import { expect, test } from 'vitest';
import { preparePage } from '../../../src/commands/serve/page.ts';

test('the address of the page has the secret in its fragment, and there is no page beyond loopback', async () => {
  const page = await preparePage({});
  const at = (host: string) => page.url({ baseUrl: `http://${host}:8787`, wsUrl: `ws://${host}:8787` });
  expect(at('127.0.0.1')).toMatch(/^http:\/\/127\.0\.0\.1:8787\/__voicectl\/#[\w-]{32}$/);
  expect(at('192.0.2.1')).toBeUndefined();
});

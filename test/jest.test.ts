import { expect, test, vi } from 'vitest';
import { setUpEmulator } from '../src/jest.ts';

// Jest's hooks and `expect` have the same shape as Vitest's.
vi.mock('@jest/globals', () => import('vitest'));

const emulator = setUpEmulator({ reply: 'echo', rateLimit: 1 });
const askForToken = () =>
  fetch(`${emulator.baseUrl}/api/websocket-voice/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey: 'any', deviceId: 'd1' }),
  }).then(({ status }) => status);

test.each(['a test', 'the next one'])('voicectl/jest gives %s an emulator in its initial state', async () => {
  expect([await askForToken(), await askForToken()]).toEqual([200, 429]);
});

test('voicectl/jest adds the audio matchers to expect', async () => {
  const second = Buffer.alloc(32_000);
  const matchers = expect(second) as unknown as { toHaveDuration(ms: number): Promise<void> };
  await matchers.toHaveDuration(1_000);
  await expect(matchers.toHaveDuration(5_000)).rejects.toThrow();
});

import { expect, test } from 'vitest';
import { setUpEmulator } from 'voicectl/vitest';
import { createDoorbell } from './doorbell.js';

const emulator = setUpEmulator({ reply: 'echo' });

test('the doorbell calls again, with a new token, when the service restarts', async () => {
  const doorbell = createDoorbell({ baseUrl: emulator.baseUrl, wsUrl: emulator.wsUrl, apiKey: 'any' });
  await doorbell.ring();
  emulator.control.close({}, 1012, 'restart');
  const again = await emulator.waitFor('stream-authorised', ({ stream }) => stream > 1);
  expect(again.device).toBe('front-door');
  doorbell.hangUp();
});

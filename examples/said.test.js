import { expect, test } from 'vitest';
import { loadPcm, openSession } from 'voicectl';
import { setUpEmulator } from 'voicectl/vitest';

const emulator = setUpEmulator({ reply: 'silence', keepAudio: true });

test('the service hears what the user said', async () => {
  // In your test this is your app.
  const app = await openSession({ baseUrl: emulator.baseUrl, device: 'kitchen', apiKey: 'any' });
  await app.speak(await loadPcm('question.wav'), { pace: 'max' });
  await app.close();
  await emulator.waitFor('stream-closed');

  const audio = emulator.stream({ device: 'kitchen' }).audio();
  await expect(audio).toHaveSaid('question.wav'); // or PCM; { similarity: 0.9 } is stricter than 0.8
  await expect(audio).toHaveDuration(3_900, { withinMs: 200 });
  await expect(audio).toHaveLevel({ minRmsDbfs: -40, maxPeakDbfs: -1 });
});

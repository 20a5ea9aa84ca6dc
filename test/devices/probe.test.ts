import { expect, test } from 'vitest';
import { probeBackends } from '../../src/devices/probe.ts';
import { setUpFakePrograms } from './fake-program.ts';

const fakes = setUpFakePrograms();

/** Why sox cannot play on a machine with this program. */
async function whyNot(play: string): Promise<string | undefined> {
  const { common } = fakes({ play });
  for await (const { name, playback } of probeBackends(common)) if (name === 'sox') return playback;
  return 'not probed';
}

test('a player works if it plays for a moment', async () => {
  expect(await whyNot('process.stdin.resume()')).toBeUndefined();
});

test('a player that fails only after half a second of audio does not work', async () => {
  const fails = `
    let bytes = 0;
    process.stdin.on('data', (pcm) => {
      bytes += pcm.length;
      if (bytes < 16_000) return;
      console.error('no such device');
      process.exit(1);
    });`;
  expect(await whyNot(fails)).toBe('no such device');
});

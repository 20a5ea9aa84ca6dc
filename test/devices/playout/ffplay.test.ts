import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backends } from '../../../src/devices/backend.ts';
import { openSpeaker } from '../../../src/devices/playout/open-speaker.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpFakePrograms } from '../fake-program.ts';

const fakes = setUpFakePrograms();
const ffmpeg = backends.find(({ name }) => name === 'ffmpeg')!;
const running = `process.stdin.resume().on('end', () => process.exit(0)); setInterval(() => {}, 1000);`;
/** Tells a clock once it is given audio. */
const playing = `${running} process.stdin.once('data', () => process.stderr.write('   0.02 M-A:  0.000 fd=   0\\r'));`;
/** A sound server that lives until a file says otherwise. */
const server = `setInterval(() => { if (require('node:fs').existsSync(process.env.FAKE_DIR + '/dead')) process.exit(1); }, 2);
  require('node:fs').writeFileSync(process.env.FAKE_DIR + '/watched', '');`;

describe('ffplay', () => {
  test('is open once its clock runs', async () => {
    const { common } = fakes({ ffplay: playing });
    const clock = createCountedClock();
    const speaker = await openSpeaker(ffmpeg, { ...common, clock });
    expect(clock.now()).toBe(0);
    await speaker.stop();
  });

  test('that runs without a device does not count as open', async () => {
    const { common } = fakes({ ffplay: running });
    const clock = createCountedClock();
    const opening = openSpeaker(ffmpeg, { ...common, clock });
    opening.catch(() => {});
    await clock.timer(3_000);
    clock.advance(3_000);
    await expect(opening).rejects.toMatchObject({ message: 'it does not start playing' });
  });

  test('that fails before its clock runs reports the reason, not its progress', async () => {
    const { common } = fakes({
      ffplay: `process.stderr.write('    nan    :  0.000 fd=   0\\rALSA: no such card\\n    nan M-A:  0.000 fd=   0');
        process.exitCode = 1;`,
    });
    const opening = openSpeaker(ffmpeg, { ...common, clock: createCountedClock() });
    await expect(opening).rejects.toMatchObject({ message: 'ALSA: no such card' });
  });

  test('is lost with the sound server, although it would continue', async () => {
    const { dir, common } = fakes({ ffplay: playing, pactl: server });
    const clock = createCountedClock();
    const speaker = await openSpeaker(ffmpeg, { ...common, clock });
    await expect.poll(() => existsSync(join(dir, 'watched'))).toBe(true);
    clock.advance(1_000);
    writeFileSync(join(dir, 'dead'), '');
    await expect(speaker.lost).rejects.toMatchObject({ code: 'audio-device' });
  });

  test('is not lost if there is no such server', async () => {
    const { common } = fakes({ ffplay: playing, pactl: 'process.exit(1)' });
    const clock = createCountedClock();
    const speaker = await openSpeaker(ffmpeg, { ...common, clock });
    const lost = speaker.lost.catch(() => 'lost');
    // The silence that it was opened with is played first.
    const ready = speaker.ready();
    await clock.timer(400);
    clock.advance(400);
    await ready;
    expect(await Promise.race([lost, Promise.resolve('there')])).toBe('there');
    await speaker.stop();
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backends } from '../../src/devices/backend.ts';
import { openSpeaker } from '../../src/devices/speaker.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { setUpFakePrograms } from './fake-program.ts';

const fakes = setUpFakePrograms();
const pulse = backends.find(({ name }) => name === 'pulse')!;
const frame = (value: number) => Buffer.alloc(640, value);
/** Keeps all that it is given to play. */
const keeping = `
  const { appendFileSync, writeFileSync } = require('node:fs');
  const file = process.env.FAKE_DIR + '/played';
  writeFileSync(file, '');
  process.stdin.on('data', (pcm) => appendFileSync(file, pcm));
  process.stdin.on('end', () => process.exit(0));`;

async function openOn(program: string) {
  const { dir, common } = fakes({ pacat: program });
  const clock = createCountedClock();
  const opening = openSpeaker(pulse, { ...common, clock });
  opening.catch(() => {});
  const played = () => readFileSync(join(dir, 'played'));
  return { clock, opening, played };
}

describe('a program that plays', () => {
  test('is open when it has not ended within a quarter of a second', async () => {
    const { clock, opening } = await openOn(`console.error('Connection refused'); process.exit(1)`);
    await expect(opening).rejects.toMatchObject({ code: 'audio-device', message: 'Connection refused' });
    expect(clock.now()).toBe(0);
  });

  test('is given 40 ms ahead, and then a frame every 20 ms', async () => {
    const { clock, opening, played } = await openOn(keeping);
    await clock.timer(250);
    clock.advance(250);
    const speaker = await opening;
    const wanted: number[] = [];
    const giving = (async () => {
      for (let i = 1; i <= 6; i += 1) {
        await speaker.ready();
        wanted.push(clock.now() - 250);
        speaker.write(frame(i));
      }
    })();
    await new Promise(setImmediate);
    await clock.run(200);
    await giving;
    expect(wanted).toEqual([0, 0, 0, 20, 40, 60]);
    await eventually(() => played().length).toBe(6 * 640);
    expect(played()).toEqual(Buffer.concat([1, 2, 3, 4, 5, 6].map(frame)));
    await speaker.finish();
  });

  test('is counted from anew after a pause: nothing is made up for', async () => {
    const { clock, opening } = await openOn(keeping);
    await clock.timer(250);
    clock.advance(250);
    const speaker = await opening;
    await speaker.ready();
    speaker.write(frame(1));
    clock.advance(5_000);
    let given = 0;
    const giving = (async () => {
      for (; given < 10; given += 1) {
        await speaker.ready();
        speaker.write(frame(2));
      }
    })();
    await new Promise(setImmediate);
    expect(given).toBe(3);
    await clock.run(200);
    await giving;
    await speaker.finish();
  });

  test('that ends is lost, for whoever waits for it and for whoever asks it next', async () => {
    const { clock, opening } = await openOn(`process.stdin.once('data', () => process.exit(0))`);
    await clock.timer(250);
    clock.advance(250);
    const speaker = await opening;
    speaker.write(frame(1));
    await expect(speaker.lost).rejects.toMatchObject({ code: 'audio-device', message: 'ended with 0' });
    await expect(speaker.ready()).rejects.toMatchObject({ code: 'audio-device' });
  });

  test('that takes nothing is lost once a second more than the system holds for it waits', async () => {
    const { clock, opening } = await openOn('setInterval(() => {}, 1000)');
    await clock.timer(250);
    clock.advance(250);
    const speaker = await opening;
    for (let i = 0; i < 2_000; i += 1) speaker.write(frame(1));
    await expect(speaker.ready()).rejects.toThrow('the program takes no audio');
    const stopping = speaker.stop();
    await clock.timer(300);
    clock.advance(301);
    await stopping;
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backends } from '../../../src/devices/backends/backend.ts';
import { openSpeaker } from '../../../src/devices/playout/speaker.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { setUpFakePrograms } from '../fake-program.ts';

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

/**
 * A device host that opens in this format, and takes whole frames of 20 ms once a file lets it. It keeps what it took.
 */
const hosting = (sampleRate: number, channels: number) => `
  const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
  const { Socket } = require('node:net');
  const [played, go] = ['/played', '/go'].map((name) => process.env.FAKE_DIR + name);
  writeFileSync(played, '');
  const control = new Socket({ fd: 4 });
  const tell = (message) => control.write(JSON.stringify(message) + '\\n');
  control.on('end', () => process.exit(0)).resume();
  const frameBytes = ${(sampleRate / 50) * channels * 2};
  let waiting = Buffer.alloc(0);
  new Socket({ fd: 3 }).on('data', (pcm) => {
    waiting = Buffer.concat([waiting, pcm]);
    writeFileSync(process.env.FAKE_DIR + '/given', String(Math.floor(waiting.length / frameBytes)));
  });
  tell({ type: 'ready', sampleRate: ${sampleRate}, channels: ${channels} });
  tell({ type: 'took', frames: 0, burst: 1 });
  setInterval(() => {
    if (!existsSync(go) || waiting.length < frameBytes) return;
    appendFileSync(played, waiting.subarray(0, frameBytes));
    waiting = waiting.subarray(frameBytes);
    tell({ type: 'took', frames: 1, burst: 1 });
  }, 5);`;

describe('a device host that plays', () => {
  const openHosted = async (sampleRate: number, channels: number) => {
    const { dir, common } = fakes();
    writeFileSync(common.surroundings.hostFile, hosting(sampleRate, channels));
    const clock = createCountedClock();
    const speaker = await openSpeaker(backends.find(({ name }) => name === 'naudiodon')!, {
      ...common,
      clock,
    });
    return { dir, clock, speaker };
  };

  test.each([
    [16_000, 1],
    [48_000, 2],
    [44_100, 2],
  ])(
    'holds two whole frames ahead, at %i Hz too: none is withheld for want of its end',
    async (sampleRate, channels) => {
      const { dir, speaker } = await openHosted(sampleRate, channels);
      const giving = (async () => {
        for (;;) {
          await speaker.ready();
          speaker.write(frame(1));
        }
      })();
      giving.catch(() => {});
      await eventually(() => readFileSync(join(dir, 'given'), 'utf8')).toBe('2');
      await speaker.stop();
    },
  );

  test.each([
    [16_000, 1],
    [48_000, 2],
  ])(
    'plays all that it was given before its end, at %i Hz too, however long it takes',
    async (sampleRate, channels) => {
      const { dir, clock, speaker } = await openHosted(sampleRate, channels);
      speaker.write(frame(1));
      speaker.write(frame(1));
      const finishing = speaker.finish();
      await new Promise(setImmediate);
      expect(clock.pending).not.toContain(250);
      writeFileSync(join(dir, 'go'), '');
      await clock.timer(250);
      expect(readFileSync(join(dir, 'played')).length).toBe(2 * (sampleRate / 50) * channels * 2);
      clock.advance(250);
      await finishing;
    },
  );

  test('that is lost while it plays the rest is waited for no longer', async () => {
    const { clock, speaker } = await openHosted(16_000, 1);
    speaker.write(frame(1));
    const finishing = speaker.finish();
    await new Promise(setImmediate);
    clock.advance(3_000);
    await clock.timer(250);
    clock.advance(250);
    await finishing;
    await expect(speaker.lost).rejects.toThrow('the device takes no audio');
  });
});

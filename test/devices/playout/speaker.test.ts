import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backends } from '../../../src/devices/backend.ts';
import { openSpeaker } from '../../../src/devices/playout/open-speaker.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { setUpFakePrograms } from '../fake-program.ts';

const fakes = setUpFakePrograms();
const pulse = backends.find(({ name }) => name === 'pulse')!;
const frame = (value: number) => Buffer.alloc(640, value);
/** 40 ms of silence. */
const cushion = Buffer.alloc(1_280);
/** Keeps all that it is given to play. */
const keeping = `
  const { appendFileSync, writeFileSync } = require('node:fs');
  const file = process.env.FAKE_DIR + '/played';
  writeFileSync(file, '');
  process.stdin.on('data', (pcm) => appendFileSync(file, pcm));
  process.stdin.on('end', () => process.exit(0));`;

const aplay = backends.find(({ name }) => name === 'alsa')!;
const sox = backends.find(({ name }) => name === 'sox')!;

async function openOn(program: string, backend = aplay) {
  const { dir, common } = fakes({ aplay: program, play: program });
  const clock = createCountedClock();
  const opening = openSpeaker(backend, { ...common, clock });
  opening.catch(() => {});
  const played = () => readFileSync(join(dir, 'played'));
  return { dir, clock, opening, played };
}

/** Opens one that ends a quarter of a second without a failure. */
async function openSettled(program: string, backend = aplay) {
  const { clock, opening, played } = await openOn(program, backend);
  await clock.timer(250);
  clock.advance(250);
  return { clock, speaker: await opening, played };
}

describe('a program that plays', () => {
  test('is open if it has not ended within a quarter of a second', async () => {
    const { clock, opening } = await openOn(`console.error('Connection refused'); process.exit(1)`);
    await expect(opening).rejects.toMatchObject({ code: 'audio-device', message: 'Connection refused' });
    expect(clock.now()).toBe(0);
  });

  test('waits for nothing more if it cannot be opened', async () => {
    const { clock, opening } = await openOn(`console.error('Connection refused'); process.exit(1)`);
    await expect(opening).rejects.toMatchObject({ code: 'audio-device' });
    expect(clock.pending).not.toContain(250);
  });

  test('is not open while it runs, but says after a tenth of a second that it cannot play', async () => {
    const { dir, clock, opening } = await openOn(`
      const { existsSync } = require('node:fs');
      setInterval(() => {
        if (!existsSync(process.env.FAKE_DIR + '/go')) return;
        console.error('Connection refused');
        process.exit(1);
      }, 2);`);
    await clock.timer(250);
    clock.advance(100);
    writeFileSync(join(dir, 'go'), '');
    await expect(opening).rejects.toMatchObject({ code: 'audio-device', message: 'Connection refused' });
  });

  test('is given a frame every 20 ms', async () => {
    const { clock, speaker, played } = await openSettled(keeping);
    const wanted: number[] = [];
    const giving = (async () => {
      for (let i = 1; i <= 4; i += 1) {
        await speaker.ready();
        wanted.push(clock.now() - 250);
        speaker.write(frame(i));
      }
    })();
    await new Promise(setImmediate);
    await clock.run(200);
    await giving;
    expect(wanted).toEqual([0, 20, 40, 60]);
    await expect.poll(() => played().length).toBe(cushion.length + 4 * 640);
    expect(played()).toEqual(Buffer.concat([cushion, ...[1, 2, 3, 4].map(frame)]));
    await speaker.finish();
  });

  test('is paced from the start again after a pause, without catching up', async () => {
    const { clock, speaker } = await openSettled(keeping);
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
    expect(given).toBe(1);
    await clock.run(200);
    await giving;
    await speaker.finish();
  });

  test('gets no burst of frames for the time before the first one', async () => {
    const { clock, speaker } = await openSettled(keeping);
    await speaker.ready();
    clock.advance(50);
    speaker.write(frame(1));
    let isReady = false;
    const waiting = speaker.ready().then(() => {
      isReady = true;
    });
    await clock.run(19);
    expect(isReady).toBe(false);
    await clock.run(1);
    await waiting;
    await speaker.finish();
  });

  test('gets silence before audio that follows a pause, if it starts with the first sample', async () => {
    const { clock, speaker, played } = await openSettled(keeping, sox);
    const give = async (value: number) => {
      const isReady = speaker.ready();
      await clock.run(20);
      await isReady;
      speaker.write(frame(value));
    };
    await give(1);
    await give(2);
    clock.advance(5_000);
    await give(3);
    const wanted = [cushion, frame(1), frame(2), cushion, frame(3)];
    await expect.poll(() => played().length).toBe(Buffer.concat(wanted).length);
    expect(played()).toEqual(Buffer.concat(wanted));
    await speaker.finish();
  });

  test('that ends is lost, for a caller that is waiting and for the next call', async () => {
    const { speaker } = await openSettled(`process.stdin.once('data', () => process.exit(0))`);
    speaker.write(frame(1));
    await expect(speaker.lost).rejects.toMatchObject({ code: 'audio-device', message: 'ended with 0' });
    await expect(speaker.ready()).rejects.toMatchObject({ code: 'audio-device' });
  });

  test('that takes nothing is lost once a second of audio waits beyond the buffer of the system', async () => {
    const { speaker } = await openSettled('setInterval(() => {}, 1000)');
    for (let i = 0; i < 2_000; i += 1) speaker.write(frame(1));
    await expect(speaker.ready()).rejects.toThrow('the program accepts no audio');
    // One that hangs is not asked to end.
    await speaker.stop();
  });
});

/** Says what it has played when it is told to: whatever number stands in a file, and before it whether it ran dry. */
const telling = `
  const { readFileSync } = require('node:fs');
  process.stdin.resume().on('end', () => process.exit(0));
  let before;
  setInterval(() => {
    let played = '0';
    try { played = readFileSync(process.env.FAKE_DIR + '/position', 'utf8'); } catch {}
    const [seconds, isDry] = played.split(' ');
    const dry = isDry === undefined ? '' : 'Stream underrun.\\r';
    if (played !== before) process.stderr.write(dry + 'Time: ' + seconds + ' sec; Latency: 60000 usec.\\r');
    before = played;
  }, 2);`;

describe('a program that reports its progress', () => {
  const openTelling = async () => {
    const { dir, common } = fakes({ pacat: telling });
    const clock = createCountedClock();
    const tellPlayed = (ms: number, dry = '') =>
      writeFileSync(join(dir, 'position'), (ms / 1_000).toFixed(3) + dry);
    tellPlayed(0);
    const speaker = await openSpeaker(pulse, { ...common, clock });
    let writtenMs = 0;
    let isAsked = false;
    let isOdd = false;
    /** 20 ms pass; it gets a frame if it wants one, and tells what it has played. */
    const pass = async (playedMs?: number, dry?: ' dry') => {
      clock.advance(20);
      if (!isAsked) {
        isAsked = true;
        const giving = speaker.ready().then(() => {
          isAsked = false;
          speaker.write(frame(1));
          writtenMs += 20;
        });
        giving.catch(() => {});
      }
      await new Promise(setImmediate);
      if (playedMs === undefined) return;
      // No two are the same, so that each is seen to have been read.
      isOdd = !isOdd;
      const told = playedMs + (isOdd ? 1 : 0);
      tellPlayed(told, dry);
      await expect.poll(() => speaker.delayMs).toBeCloseTo(writtenMs - told, 0);
    };
    return { clock, speaker, pass, written: () => writtenMs };
  };

  test('is open as soon as it reports, and its delay is what it has not played', async () => {
    const { clock, speaker, pass } = await openTelling();
    expect(clock.now()).toBe(0);
    for (let t = 20; t <= 300; t += 20) await pass(t > 60 ? t - 60 : undefined);
    expect(speaker.delayMs).toBeCloseTo(60, -1);
    expect(speaker.holes).toBe(0);
    await speaker.stop();
  });

  test('has stuttered if it ran dry shortly before a frame, but not if it did so in a pause', async () => {
    const { clock, speaker, pass } = await openTelling();
    for (let t = 20; t <= 200; t += 20) await pass(t > 60 ? t - 60 : undefined);
    await pass(160, ' dry');
    await pass();
    expect(speaker.holes).toBe(1);
    await pass(200, ' dry');
    clock.advance(500);
    await pass();
    expect(speaker.holes).toBe(1);
    await speaker.stop();
  });

  test('has stalled, and is opened again, once it has played nothing of its audio for three seconds', async () => {
    const { clock, speaker, pass } = await openTelling();
    let isLost = false;
    speaker.lost.catch(() => {
      isLost = true;
    });
    for (let t = 20; t <= 200; t += 20) await pass(t > 60 ? t - 60 : undefined);
    while (!isLost && clock.now() < 10_000) await pass();
    expect(clock.now()).toBe(200 + 3_000 + 20);
    await expect(speaker.lost).rejects.toMatchObject({
      message: 'the program plays nothing',
      details: { stalled: true },
    });
    await speaker.stop();
  });

  test('and was held up gets nothing for that long, and the waiting audio counts as late', async () => {
    const { clock, speaker, pass, written } = await openTelling();
    for (let t = 20; t <= 400; t += 20) await pass(t > 60 ? t - 60 : undefined);
    for (let t = 420; t <= 900; t += 20) await pass();
    const before = written();
    for (let t = 920; t <= 2_000; t += 20) await pass(t - 560);
    expect(speaker.holes).toBe(1);
    expect(speaker.delayMs).toBeCloseTo(60, -1);
    expect(written() - before).toBeCloseTo(2_000 - 900 - 500, -1);
    expect(speaker.drainLateMs()).toBeCloseTo(500, -1);
    expect(speaker.drainLateMs()).toBe(0);
    expect(clock.now()).toBe(2_000);
    await speaker.stop();
  });
});

/**
 * A device host that opens in this format, takes so much silence at once, and whole frames of 20 ms once a file lets it.
 * It keeps what it took. Another file tells that its library closed the stream.
 */
const hosting = (sampleRate: number, channels: number, atOnce: number) => `
  const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
  const { Socket } = require('node:net');
  const [played, go, closed] = ['/played', '/go', '/closed'].map((name) => process.env.FAKE_DIR + name);
  writeFileSync(played, '');
  const control = new Socket({ fd: 4 });
  const tell = (...messages) => control.write(messages.map((one) => JSON.stringify(one) + '\\n').join(''));
  control.on('end', () => process.exit(0)).resume();
  const frameBytes = ${(sampleRate / 50) * channels * 2};
  let waiting = Buffer.alloc(0);
  new Socket({ fd: 3 }).on('data', (pcm) => {
    waiting = Buffer.concat([waiting, pcm]);
    writeFileSync(process.env.FAKE_DIR + '/given', String(Math.floor(waiting.length / frameBytes)));
  });
  tell({ type: 'ready', sampleRate: ${sampleRate}, channels: ${channels} });
  tell(...Array(${atOnce}).fill({ type: 'took', frames: 0, burst: 1 }));
  setInterval(() => {
    if (existsSync(closed)) tell({ type: 'failed', message: 'the stream was closed' });
    if (!existsSync(go) || waiting.length < frameBytes) return;
    appendFileSync(played, waiting.subarray(0, frameBytes));
    waiting = waiting.subarray(frameBytes);
    tell({ type: 'took', frames: 1, burst: 1 });
  }, 5);`;

describe('a device host that plays', () => {
  const naudiodon = backends.find(({ name }) => name === 'naudiodon')!;
  const openHosted = async (sampleRate: number, channels: number, atOnce = 1) => {
    const { dir, common } = fakes();
    writeFileSync(common.search.hostFile, hosting(sampleRate, channels, atOnce));
    const clock = createCountedClock();
    const speaker = await openSpeaker(naudiodon, { ...common, clock });
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
      await expect.poll(() => readFileSync(join(dir, 'given'), 'utf8')).toBe('2');
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
      // These two are what it always has ahead.
      expect(speaker.delayMs).toBe(naudiodon.playbackMs);
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

  test('may fill its queues and sleep for seconds at first, but later only for 0.8 s', async () => {
    const { dir, clock, speaker } = await openHosted(16_000, 1, 30);
    let isLost = false;
    speaker.lost.catch(() => {
      isLost = true;
    });
    writeFileSync(join(dir, 'go'), '');
    clock.advance(2_900);
    speaker.write(frame(1));
    const atRest = speaker.delayMs - 20;
    await expect.poll(() => speaker.delayMs).toBe(atRest);
    expect(isLost).toBe(false);
    clock.advance(100);
    speaker.write(frame(1));
    await clock.timer(800);
    clock.advance(800);
    await expect(speaker.lost).rejects.toThrow('the device accepts no audio');
    await speaker.stop();
  });

  test('has stuttered if it takes a frame late, and is opened again if its library then closes it', async () => {
    const { dir, clock, speaker } = await openHosted(16_000, 1);
    writeFileSync(join(dir, 'go'), '');
    const isTaken = async () => {
      speaker.write(frame(1));
      await expect.poll(() => speaker.delayMs).toBe(naudiodon.playbackMs - 40);
    };
    await isTaken();
    clock.advance(80);
    await isTaken();
    expect(speaker.holes).toBe(0);
    clock.advance(81);
    await isTaken();
    expect(speaker.holes).toBe(1);
    writeFileSync(join(dir, 'closed'), '');
    await expect(speaker.lost).rejects.toMatchObject({
      message: 'the stream was closed',
      details: { stalled: true },
    });
    await speaker.stop();
  });

  test('that is lost while it plays the rest is no longer waited for', async () => {
    const { clock, speaker } = await openHosted(16_000, 1);
    speaker.write(frame(1));
    const finishing = speaker.finish();
    await new Promise(setImmediate);
    clock.advance(3_000);
    await clock.timer(250);
    clock.advance(250);
    await finishing;
    await expect(speaker.lost).rejects.toThrow('the device accepts no audio');
  });
});

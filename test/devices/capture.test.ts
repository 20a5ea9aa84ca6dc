import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backends } from '../../src/devices/backend.ts';
import { createOpener, openFirst } from '../../src/devices/backends/open-first.ts';
import { type Capture, openCapture } from '../../src/devices/capture.ts';
import type { VoicectlError } from '../../src/kernel/errors.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';
import { setUpFakePrograms } from './fake-program.ts';

const fakes = setUpFakePrograms();
const pulse = backends.find(({ name }) => name === 'pulse')!;
/** Counts up in samples, in chunks of odd sizes, for ever. */
const counting = `
  let at = 0;
  const give = () => {
    const pcm = Buffer.alloc(6400);
    for (let i = 0; i < 3200; i += 1) pcm.writeInt16LE((at + i) % 20000, i * 2);
    at += 3200;
    for (let i = 0; i < 6400; i += 333) process.stdout.write(pcm.subarray(i, i + 333));
    setTimeout(give, 100);
  };
  give();`;

const open = (
  common: ReturnType<ReturnType<typeof setUpFakePrograms>>['common'],
  onOverrun = (_: number) => {},
) => openCapture(pulse, { ...common, onOverrun });

async function take(capture: Capture, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let taken = 0;
  for await (const chunk of capture.read()) {
    chunks.push(chunk);
    taken += chunk.length;
    if (taken >= bytes) break;
  }
  return Buffer.concat(chunks);
}

describe('a program that captures', () => {
  test('delivers whole samples in order, however the pipe splits them', async () => {
    const capture = await open(fakes({ parec: counting }).common);
    const pcm = await take(capture, 32_000);
    await capture.stop();
    for (let i = 0; i < 16_000; i += 1) expect(pcm.readInt16LE(i * 2)).toBe(i % 20_000);
  });

  test('in several identical channels delivers one of them, sample for sample', async () => {
    const sox = backends.find(({ name }) => name === 'sox')!;
    const inEight = `
      const pcm = Buffer.alloc(16 * 5000);
      for (let i = 0; i < 8 * 5000; i += 1) pcm.writeInt16LE(((i >> 3) - 2500) * 13, i * 2);
      process.stdout.write(pcm);
      setInterval(() => {}, 1000);`;
    const { common } = fakes({ sox: inEight });
    const capture = await openCapture(sox, { ...common, onOverrun: () => {} });
    const pcm = await take(capture, 10_000);
    await capture.stop();
    for (let i = 0; i < 5_000; i += 1) expect(pcm.readInt16LE(i * 2)).toBe((i - 2_500) * 13);
  });

  test('that ends, even with 0, is a lost device; its last output is the reason', async () => {
    const program = `process.stdout.write(Buffer.alloc(640)); console.error('some chatter\\nNo such device\\n');`;
    const capture = await open(fakes({ parec: program }).common);
    await expect(take(capture, 10_000)).rejects.toMatchObject({
      code: 'audio-device',
      message: 'No such device',
      exitCode: 8,
    });
  });

  test('that cannot start says why', async () => {
    const failing = fakes({ parec: '#!/bin/sh\necho Connection refused >&2; exit 1' }).common;
    await expect(open(failing)).rejects.toThrow('Connection refused');
    await expect(open(fakes().common)).rejects.toThrow(/cannot be started: .*ENOENT/);
  });

  test('that hangs is given up after 3 s without first audio, or 1 s without more', async () => {
    const clock = createCountedClock();
    const hung = open({ ...fakes({ parec: 'setInterval(() => {}, 1000)' }).common, clock });
    hung.catch(() => {});
    await clock.timer(3_000);
    clock.advance(3_001);
    // It is asked to end, and then killed.
    await clock.timer(300);
    await expect(hung).rejects.toThrow('it delivered no audio');

    const once = {
      ...fakes({ parec: 'process.stdout.write(Buffer.alloc(640)); setInterval(() => {}, 1000)' }).common,
      clock,
    };
    const capture = await open(once);
    const taking = take(capture, 10_000);
    taking.catch(() => {});
    await clock.timer(1_000);
    clock.advance(1_001);
    // It is opened again in any case.
    await expect(taking).rejects.toMatchObject({
      message: 'it delivered no audio',
      details: { stalled: true },
    });
    await capture.stop();
  });

  test('in a device host gets 3 s for each step: to start, to open the device, and to deliver audio', async () => {
    const { dir, common } = fakes();
    // It takes each step when a file lets it, and writes another one when it has reported it.
    const host = `
      const { existsSync, writeFileSync } = require('node:fs');
      const { Socket } = require('node:net');
      const control = new Socket({ fd: 4 });
      control.on('end', () => process.exit(0)).resume();
      const steps = [{ type: 'started' }, { type: 'ready', sampleRate: 16000, channels: 1 }];
      setInterval(() => {
        if (steps.length === 0 || !existsSync(process.env.FAKE_DIR + '/' + steps[0].type)) return;
        const step = steps.shift();
        control.write(JSON.stringify(step) + '\\n', () => writeFileSync(process.env.FAKE_DIR + '/told-' + step.type, ''));
      }, 5);`;
    writeFileSync(common.search.hostFile, host);
    const clock = createCountedClock();
    const naudiodon = backends.find(({ name }) => name === 'naudiodon')!;
    const opening = openCapture(naudiodon, { ...common, clock, onOverrun: () => {} });
    let isLost = false;
    opening.catch(() => {
      isLost = true;
    });
    await clock.timer(3_000);
    for (const step of ['started', 'ready']) {
      clock.advance(2_900);
      writeFileSync(join(dir, step), '');
      await expect.poll(() => existsSync(join(dir, `told-${step}`))).toBe(true);
      // What was told is there to be read.
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    }
    clock.advance(2_900);
    await new Promise(setImmediate);
    expect(isLost).toBe(false);
    clock.advance(101);
    await expect(opening).rejects.toThrow('it delivered no audio');
  });

  test.each([
    ['after its first audio was only held up, and is opened again', 640, true],
    ['before its first audio is lost', 0, false],
  ])('in a device host that fails %s', async (_what, bytes, stalled) => {
    const { dir, common } = fakes();
    const host = `
      const { existsSync } = require('node:fs');
      const { Socket } = require('node:net');
      const control = new Socket({ fd: 4 });
      control.on('end', () => process.exit(0)).resume();
      const tell = (message) => control.write(JSON.stringify(message) + '\\n');
      tell({ type: 'ready', sampleRate: 16000, channels: 1 });
      new Socket({ fd: 3 }).write(Buffer.alloc(${bytes}));
      const failing = setInterval(() => {
        if (${bytes} > 0 && !existsSync(process.env.FAKE_DIR + '/taken')) return;
        clearInterval(failing);
        tell({ type: 'failed', message: 'the stream was closed' });
      }, 5);`;
    writeFileSync(common.search.hostFile, host);
    const naudiodon = backends.find(({ name }) => name === 'naudiodon')!;
    const taking = (async () => {
      const capture = await openCapture(naudiodon, { ...common, onOverrun: () => {} });
      writeFileSync(join(dir, 'taken'), '');
      await take(capture, 10_000).finally(capture.stop);
    })();
    await expect(taking).rejects.toMatchObject({ message: 'the stream was closed', details: { stalled } });
  });

  test('that does not end is killed', async () => {
    const program = `process.on('SIGTERM', () => {}); console.error(process.pid); ${counting}`;
    const { common } = fakes({ parec: program });
    const capture = await open(common);
    await capture.stop();
    await expect(take(capture, 640_000)).rejects.toThrow();
  });

  /** Gives 20 s at once, the second in each sample, whenever a file asks for the next; says when all were taken. */
  const flooding = `
    const { existsSync, writeFileSync } = require('node:fs');
    const give = (name) => {
      for (let second = 1; second < 20; second += 1) process.stdout.write(Buffer.alloc(32000, second));
      const file = process.env.FAKE_DIR + '/' + name;
      process.stdout.write(Buffer.alloc(32000, 20), () => writeFileSync(file, ''));
    };
    give('before');
    const asked = setInterval(() => {
      if (!existsSync(process.env.FAKE_DIR + '/more')) return;
      clearInterval(asked);
      give('after');
    }, 5);
    setInterval(() => {}, 1000);`;

  test('keeps the newest two seconds for its reader, and reports no loss before the first read', async () => {
    const { dir, common } = fakes({ parec: flooding });
    const lost: number[] = [];
    const capture = await open(common, (ms) => lost.push(ms));
    await expect.poll(() => existsSync(join(dir, 'before'))).toBe(true);
    expect(lost).toEqual([]);
    const pcm = await take(capture, 64_000);
    await capture.stop();
    expect(pcm.at(0)).toBeGreaterThan(5);
  });

  test('that is read too slowly reports its losses at most once a second, as a sum', async () => {
    const { dir, common } = fakes({ parec: flooding });
    const clock = createCountedClock();
    const lost: number[] = [];
    const capture = await open({ ...common, clock }, (ms) => lost.push(ms));
    await expect.poll(() => existsSync(join(dir, 'before'))).toBe(true);
    const reading = capture.read();
    await reading.next();
    writeFileSync(join(dir, 'more'), '');
    await expect.poll(() => existsSync(join(dir, 'after'))).toBe(true);
    expect(lost).toHaveLength(1);
    const stopping = capture.stop();
    expect(lost).toHaveLength(2);
    expect(lost[1]).toBeGreaterThan(5_000);
    await stopping;
  });
});

describe('the first backend that can', () => {
  const choose = (programs: Record<string, string>, backend?: string, device?: string) => {
    const { common } = fakes(programs);
    return openFirst({ ...common, role: 'capture', backend, device }, (one, device) =>
      openCapture(one, { ...common, device, onOverrun: () => {} }),
    );
  };
  const refuse = 'echo Connection refused >&2; exit 1';
  const failing = `#!/bin/sh\n${refuse}`;

  test('is used: those that are not installed or fail are skipped', async () => {
    const capture = await choose({ parec: failing, arecord: counting });
    expect(capture.backend).toBe('alsa');
    await capture.stop();
  });

  test('is the chosen one', async () => {
    const capture = await choose({ parec: counting, sox: counting }, 'sox');
    expect(capture.backend).toBe('sox');
    await capture.stop();
    await expect(choose({ parec: counting }, 'alsa')).rejects.toMatchObject({ code: 'audio-device' });
    await expect(choose({}, 'gramophone')).rejects.toMatchObject({ code: 'usage' });
  });

  describe('of a named device', () => {
    const refusing = `#!/bin/sh\ncase "$*" in *-L*) printf 'hw:0\\nhw:1\\n';; *) ${refuse};; esac`;
    const list = `case "$1 $2" in
      info*) echo 'Default Source: usb';;
      'list sources') printf 'Source #0\\n\\tName: usb\\nSource #1\\n\\tName: hw:1\\n';;
    esac`;
    const pulseList = `#!/bin/sh\n${list}`;
    const programs = { pactl: pulseList, parec: failing, arecord: refusing, aplay: refusing, sox: counting };

    test('by its number is the one of the displayed list', async () => {
      await expect(choose(programs, undefined, '1')).rejects.toMatchObject({
        message: 'No microphone can be reached (pulse: Connection refused)',
      });
      await expect(choose(programs, undefined, '7')).rejects.toThrow(/There is no sound device "7"/);
      await expect(choose(programs, 'alsa', '1')).rejects.toThrow('(alsa: Connection refused)');
    });

    test('by its number still belongs to that list when it comes back, not to another list meanwhile', async () => {
      const dying = `#!/bin/sh\nif [ -e "$FAKE_DIR/dead" ]; then ${refuse}; fi\n${list}`;
      const { dir, common } = fakes({ ...programs, pactl: dying, parec: counting });
      const again = createOpener(
        { ...common, role: 'capture', backend: undefined, device: '1' },
        (one, options) => openCapture(one, { ...common, ...options, onOverrun: () => {} }),
      );
      const { signal } = new AbortController();
      await (await again(signal)).stop();
      writeFileSync(join(dir, 'dead'), '');
      await expect(again(signal)).rejects.toThrow('(pulse: Connection refused)');
    });

    test('by its name may be any backend that knows the name', async () => {
      const capture = await choose(programs, undefined, 'hw:1');
      expect(capture.backend).toBe('sox');
      await capture.stop();
    });
  });

  test('is skipped if the system refuses to start it', async () => {
    await expect(choose({ sox: counting }, undefined, 'a\0b')).rejects.toMatchObject({
      code: 'audio-device',
      message: expect.stringMatching(/sox: cannot be started: .*null bytes/),
    });
  });

  test('is missing: then each failure is reported or, if nothing is installed, what to install', async () => {
    const failure: VoicectlError = await choose({ parec: failing, arecord: failing }).catch(
      (thrown) => thrown,
    );
    expect(failure).toMatchObject({
      code: 'audio-device',
      message: 'No microphone can be reached (pulse: Connection refused; alsa: Connection refused)',
      hint: expect.stringMatching(/sound server/),
    });
    await expect(choose({})).rejects.toMatchObject({
      message: 'No microphone is available: no audio backend is installed',
      hint: expect.stringMatching(/^Install one of: pulseaudio-utils .*alsa-utils .*sox/),
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { Capture } from '../../src/devices/capture.ts';
import { type MicrophoneOptions, openMicrophone } from '../../src/devices/microphone.ts';
import { createNotices, type DeviceNotice } from '../../src/devices/notices.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { createCountedClock } from '../helpers/counted-clock.ts';
import { speech } from '../helpers/pcm.ts';

/** A device that gives these chunks and is then lost. */
function createFakeCapture(...chunks: Buffer[]) {
  const calls: string[] = [];
  const capture: Capture = {
    backend: 'fake',
    async *read() {
      yield* chunks.map((chunk) => Buffer.from(chunk));
      throw new VoicectlError('audio-device', 'ended with 1');
    },
    clear: () => void calls.push('clear'),
    stop: async () => void calls.push('stop'),
  };
  return { capture, calls };
}

async function open(capture: Capture, options: Partial<MicrophoneOptions> = {}) {
  const clock = createCountedClock();
  const notices = createNotices();
  const told: DeviceNotice[] = [];
  notices.listen((notice) => told.push(notice));
  const microphone = await openMicrophone({
    open: async () => capture,
    clock,
    notices,
    deviceTimeoutMs: 0,
    signal: new AbortController().signal,
    ...options,
  });
  return { clock, microphone, told };
}

async function readAll(source: AsyncIterable<Buffer>) {
  const chunks: Buffer[] = [];
  let error: unknown;
  try {
    for await (const chunk of source) chunks.push(chunk);
  } catch (thrown) {
    error = thrown;
  }
  return { chunks, error };
}

const second = Buffer.alloc(32_000);

describe('the microphone', () => {
  test('delivers what is captured from now on, and releases the device', async () => {
    const { capture, calls } = createFakeCapture(speech(20), speech(40));
    const { microphone } = await open(capture);
    expect(microphone).toMatchObject({ backend: 'fake', durationMs: undefined, repeatable: false });
    const { chunks } = await readAll(microphone.read());
    expect(chunks).toEqual([speech(20), speech(40)]);
    expect(calls).toEqual(['clear', 'stop']);
  });

  test('that is lost fails the session, with advice', async () => {
    const { microphone } = await open(createFakeCapture(speech(20)).capture);
    const { error } = await readAll(microphone.read());
    expect(error).toMatchObject({
      code: 'audio-device',
      exitCode: 8,
      message: 'The microphone was lost: ended with 1',
      hint: expect.stringMatching(/sound server.*--sound-timeout/),
    });
  });

  test('that comes back in time is used again', async () => {
    const captures = [createFakeCapture(speech(20)), createFakeCapture(speech(40))];
    let attempts = 0;
    const { microphone, clock, told } = await open(captures[0]!.capture, {
      deviceTimeoutMs: 2_000,
      async open() {
        attempts += 1;
        const capture = [captures[0], undefined, captures[1]][attempts - 1]?.capture;
        if (capture === undefined) throw new VoicectlError('audio-device', 'Connection refused');
        return capture;
      },
    });
    const reading = readAll(microphone.read());
    await clock.timer(500);
    await clock.run(10_000, 100);
    const { chunks, error } = await reading;
    expect(chunks).toEqual([speech(20), speech(40)]);
    expect(told.map(({ code }) => code)).toEqual(['device-lost', 'device-returned', 'device-lost']);
    expect(error).toMatchObject({
      code: 'audio-device',
      message: 'The microphone was lost and did not come back within 2 s: Connection refused',
      hint: expect.stringMatching(/--sound-timeout/),
    });
  });

  test('is silent while it is muted', async () => {
    const { microphone } = await open(createFakeCapture(speech(20), speech(20), speech(20)).capture);
    const heard: boolean[] = [];
    await readAll(
      (async function* () {
        for await (const chunk of microphone.read()) {
          heard.push(chunk.some((byte) => byte !== 0));
          microphone.mute(heard.length === 1);
          yield chunk;
        }
      })(),
    );
    expect(heard).toEqual([true, false, true]);
    expect(microphone.muted).toBe(false);
  });

  test('that delivers digital silence is reported once, but not if it is muted or the room is quiet', async () => {
    const silent = await open(createFakeCapture(...Array(10).fill(second)).capture);
    await readAll(silent.microphone.read());
    expect(silent.told).toMatchObject([
      { code: 'microphone-silent', hint: expect.stringMatching(/may be muted/) },
    ]);

    const room = Buffer.from(second);
    room.writeInt16LE(1, 100);
    const quiet = await open(createFakeCapture(...Array(10).fill(room)).capture);
    await readAll(quiet.microphone.read());
    expect(quiet.told).toEqual([]);

    const muted = await open(createFakeCapture(...Array(10).fill(second)).capture);
    muted.microphone.mute(true);
    await readAll(muted.microphone.read());
    expect(muted.told).toEqual([]);
  });

  test('delivers audio without the echo, whose silence does not count as the device’s', async () => {
    const { capture } = createFakeCapture(speech(20), ...Array.from({ length: 5 }, () => speech(1_000)));
    const clean = (pcm: Buffer) => Buffer.alloc(pcm.length);
    const { microphone, told } = await open(capture, { onHeard: clean });
    const { chunks } = await readAll(microphone.read());
    expect(chunks[0]).toEqual(Buffer.alloc(640));
    expect(told).toEqual([]);
  });

  test('that is muted delivers silence to what listens for an echo, too, but what removes the echo still hears', async () => {
    const heard: Buffer[] = [];
    const delivered: Buffer[] = [];
    const { microphone } = await open(createFakeCapture(speech(20)).capture, {
      onHeard(pcm) {
        heard.push(Buffer.from(pcm));
        return pcm;
      },
      onDelivered: (pcm) => void delivered.push(Buffer.from(pcm)),
    });
    microphone.mute(true);
    await readAll(microphone.read());
    expect(heard).toEqual([speech(20)]);
    expect(delivered).toEqual([Buffer.alloc(640)]);
  });

  test('records what it delivers', async () => {
    const written: Buffer[] = [];
    let isClosed = false;
    const { microphone } = await open(createFakeCapture(speech(20), speech(40)).capture);
    microphone.record({
      write: async (pcm) => void written.push(pcm),
      close: async () => {
        isClosed = true;
      },
    });
    const { chunks } = await readAll(microphone.read());
    expect(written).toEqual(chunks);
    expect(isClosed).toBe(true);
  });

  test('ends with the signal’s reason, which does not count as a lost device', async () => {
    const ending = new AbortController();
    let end = () => {};
    const capture: Capture = {
      backend: 'fake',
      async *read() {
        yield speech(20);
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        throw new VoicectlError('audio-device', 'it was closed');
      },
      clear() {},
      stop: async () => end(),
    };
    const { microphone, told } = await open(capture, { deviceTimeoutMs: 5_000 });
    const reading = readAll(microphone.read(ending.signal));
    await new Promise(setImmediate);
    ending.abort(new VoicectlError('interrupted', 'Interrupted'));
    expect((await reading).error).toMatchObject({ code: 'interrupted' });
    expect(told).toEqual([]);
  });

  describe('that is away when the session ends', () => {
    const lostFirst = (again: (signal: AbortSignal) => Promise<Capture>) => {
      let attempts = 0;
      return (signal: AbortSignal) => {
        attempts += 1;
        return attempts === 1 ? Promise.resolve(createFakeCapture(speech(20)).capture) : again(signal);
      };
    };

    test('is no longer waited for', async () => {
      const ending = new AbortController();
      const { microphone, clock, told } = await open(createFakeCapture().capture, {
        deviceTimeoutMs: 60_000,
        open: lostFirst(() => Promise.reject(new VoicectlError('audio-device', 'Connection refused'))),
      });
      const reading = readAll(microphone.read(ending.signal));
      await clock.timer(60_000);
      ending.abort(new VoicectlError('timed-out', 'Enough'));
      expect((await reading).error).toMatchObject({ code: 'timed-out' });
      await microphone.close();
      expect(clock.now()).toBe(0);
      expect(clock.pending).toEqual([]);
      expect(told.map(({ code }) => code)).toEqual(['device-lost']);
    });

    test('is released if it still opens', async () => {
      const late = createFakeCapture(speech(40));
      let returnIt = () => {};
      let asked = () => {};
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const { microphone } = await open(createFakeCapture().capture, {
        deviceTimeoutMs: 60_000,
        open: lostFirst((signal) => {
          asked();
          return new Promise((resolve) => {
            returnIt = () => resolve(late.capture);
            expect(signal.aborted).toBe(false);
          });
        }),
      });
      const reading = readAll(microphone.read());
      await isAsked;
      // It is back in the very moment in which it is closed.
      returnIt();
      await microphone.close();
      const { chunks, error } = await reading;
      expect(chunks).toEqual([speech(20)]);
      expect(error).toMatchObject({ code: 'interrupted' });
      await new Promise(setImmediate);
      expect(late.calls).toEqual(['stop']);
    });
  });
});

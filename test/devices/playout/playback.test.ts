import { describe, expect, test } from 'vitest';
import { createNotices, type DeviceNotice } from '../../../src/devices/notices.ts';
import { openPlayback, type PlaybackOptions } from '../../../src/devices/playout/playback.ts';
import type { Speaker } from '../../../src/devices/playout/speaker.ts';
import { VoicectlError } from '../../../src/kernel/errors.ts';
import { createCountedClock } from '../../helpers/counted-clock.ts';
import { speech } from '../../helpers/pcm.ts';

/** A loudspeaker that takes a frame every 20 ms of the test's clock. */
function createFakeSpeaker(clock: ReturnType<typeof createCountedClock>, delayMs = 0) {
  const frames: Buffer[] = [];
  const calls: string[] = [];
  let lose: (thrown: VoicectlError) => void = () => {};
  let failure: VoicectlError | undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});
  let nextAt = 0;
  let holes = 0;
  const speaker: Speaker = {
    backend: 'fake',
    lost,
    delayMs,
    get holes() {
      return holes;
    },
    drainLateMs: () => 0,
    async ready() {
      if (failure !== undefined) throw failure;
      if (clock.now() < nextAt)
        await new Promise<void>((resolve) => clock.after(nextAt - clock.now(), resolve));
    },
    write(frame) {
      frames.push(frame);
      nextAt = Math.max(nextAt, clock.now() - 15) + 20;
    },
    finish: async () => void calls.push('finish'),
    stop: async () => void calls.push('stop'),
  };
  return {
    speaker,
    frames,
    calls,
    get audible() {
      return frames.filter((frame) => frame.some((byte) => byte !== 0 && byte !== 255)).length;
    },
    holdUp() {
      holes += 1;
    },
    lose(message: string, details = {}) {
      failure = new VoicectlError('audio-device', message, { details });
      lose(failure);
    },
  };
}

async function open(options: Partial<PlaybackOptions> = {}) {
  const clock = createCountedClock();
  const fake = createFakeSpeaker(clock);
  const notices = createNotices();
  const told: DeviceNotice[] = [];
  notices.listen((notice) => told.push(notice));
  const playback = await openPlayback({
    open: async () => fake.speaker,
    clock,
    notices,
    volume: 1,
    settleMs: 1_500,
    deviceTimeoutMs: 0,
    signal: new AbortController().signal,
    ...options,
  });
  return { clock, fake, playback, told };
}

describe('playback', () => {
  test('takes audio immediately, and plays it in time', async () => {
    const { clock, fake, playback } = await open();
    await playback.write(speech(400));
    expect(clock.now()).toBe(0);
    await clock.run(300);
    expect(fake.audible).toBeGreaterThan(8);
    expect(fake.audible).toBeLessThan(16);
    await clock.run(500);
    expect(fake.audible).toBeGreaterThanOrEqual(19);
    expect(playback.underruns).toBe(0);
  });

  test('reads audio that arrived while this process was held up before it continues', async () => {
    const { clock, fake, playback } = await open();
    await playback.write(speech(40));
    await clock.run(40);
    for (const audible of [2, 3, 4]) {
      // The timer of the device comes first, and then the socket.
      clock.advance(20);
      await new Promise<void>((resolve) => process.nextTick(resolve));
      void playback.write(speech(20));
      await new Promise(setImmediate);
      expect(fake.audible).toBe(audible);
    }
    expect(playback.underruns).toBe(0);
  });

  test('is on time again three seconds after this process was stopped for half a second', async () => {
    const counted = createCountedClock();
    let stoppedMs = 0;
    // No timer fires while the process is stopped.
    const clock = { ...counted, now: () => counted.now() + stoppedMs };
    const fake = createFakeSpeaker(clock);
    const { playback } = await open({ clock, open: async () => fake.speaker });
    const hear = async (ms: number) => {
      for (let t = 0; t < ms; t += 20) {
        await playback.write(speech(20));
        await clock.run(20);
      }
    };
    await hear(1_000);
    const before = playback.delayMs!;
    stoppedMs = 500;
    for (let t = 0; t < 500; t += 20) await playback.write(speech(20));
    const count = fake.frames.length;
    await hear(3_000);
    // The device was silent in the meantime: at a third of a period a tone is loud, and this is not yet.
    const start = Array.from({ length: 12 }, (_, i) => Math.abs(fake.frames[count]!.readInt16LE(i * 2)));
    expect(Math.max(...start)).toBeGreaterThan(0);
    expect(Math.max(...start)).toBeLessThan(1_400);
    expect(playback.delayMs! - before).toBeLessThanOrEqual(20);
    expect(playback.stats.skippedMs).toBeGreaterThan(400);
    await playback.close(new VoicectlError('interrupted', 'Interrupted'));
    expect(clock.pending).toEqual([]);
  });

  describe('plays messages that end within a sample', () => {
    /** The loudest sample; that of the tone is 8,000. */
    const peak = (frames: readonly Buffer[]) =>
      Math.max(
        ...frames.flatMap((frame) =>
          [...new Int16Array(frame.buffer, frame.byteOffset, frame.length / 2)].map(Math.abs),
        ),
      );
    const tone = speech(800);
    type Opened = Awaited<ReturnType<typeof open>>;

    test.each<[string, Buffer, (on: Opened) => unknown, number]>([
      ['one after the other', tone.subarray(0, 6_401), () => {}, 6_401],
      ['after the user began to speak', Buffer.alloc(6_401), ({ playback }) => playback.hold(), 6_401],
      [
        'after one that was held back',
        tone.subarray(0, 6_400),
        async ({ clock, playback }) => {
          playback.hold();
          await playback.write(tone.subarray(6_400, 7_041));
          await clock.run(600);
        },
        7_041,
      ],
      [
        'after an interruption, from a whole sample on',
        tone.subarray(0, 6_401),
        ({ playback }) => playback.flush(),
        6_402,
      ],
    ])('%s', async (_when, before, happens, from) => {
      const opened = await open();
      const { clock, fake, playback } = opened;
      await playback.write(before);
      await clock.run(100);
      await happens(opened);
      for (let at = from; at < tone.length; at += 641) await playback.write(tone.subarray(at, at + 641));
      await clock.run(1_000);
      expect(fake.audible).toBeGreaterThan(20);
      expect(peak(fake.frames)).toBeLessThan(9_000);
    });
  });

  test('sends the device nothing while there is nothing to play', async () => {
    const { clock, fake, playback } = await open();
    await clock.run(1_000);
    expect(fake.frames).toEqual([]);
    await playback.write(speech(100));
    await clock.run(1_000);
    const count = fake.frames.length;
    await clock.run(1_000);
    expect(fake.frames.length).toBe(count);
  });

  test('at its end plays waiting audio, and then releases the device', async () => {
    const { clock, fake, playback } = await open();
    await playback.write(speech(2_000));
    const closing = playback.close();
    await clock.run(2_300);
    await closing;
    expect(fake.audible).toBeGreaterThanOrEqual(99);
    expect(fake.calls).toEqual(['finish']);
  });

  test('ends at once after a failure of the session, or once nobody waits any more', async () => {
    const failed = await open();
    await failed.playback.write(speech(2_000));
    await failed.playback.close(new VoicectlError('stream-broken', 'It broke'));
    expect(failed.fake.calls).toContain('stop');
    expect(failed.clock.now()).toBe(0);

    const ending = new AbortController();
    const aborted = await open({ signal: ending.signal });
    await aborted.playback.write(speech(2_000));
    const closing = aborted.playback.close();
    await aborted.clock.run(100);
    ending.abort();
    await aborted.clock.run(40);
    await closing;
    expect(aborted.fake.audible).toBeLessThan(10);
    expect(aborted.fake.calls).toEqual(['stop']);
  });

  test('fades out after a flush, and keeps its device', async () => {
    const clock = createCountedClock();
    const fake = createFakeSpeaker(clock, 100);
    const { playback } = await open({ clock, open: async () => fake.speaker });
    await playback.write(speech(5_000));
    await clock.run(500);
    const count = fake.frames.length;
    playback.flush();
    expect(fake.frames.length).toBe(count + 1);
    const samples = Array.from({ length: 320 }, (_, i) => Math.abs(fake.frames[count]!.readInt16LE(i * 2)));
    expect(Math.max(...samples.slice(0, 80))).toBeGreaterThan(3_000);
    expect(Math.max(...samples.slice(160))).toBe(0);
    await clock.run(1_000);
    expect(fake.frames.length).toBe(count + 1);
    expect(fake.calls).toEqual([]);
    expect(playback.stats.flushedMs).toBeGreaterThan(4_000);
  });

  test('plays nothing more of a reply that the user interrupts, and then the next one', async () => {
    const { clock, fake, playback } = await open();
    await playback.write(speech(200));
    await clock.run(200);
    playback.hold();
    const count = fake.audible;
    for (let i = 0; i < 50; i += 1) {
      await playback.write(speech(20));
      await clock.run(20);
    }
    expect(fake.audible).toBe(count);
    await clock.run(500);
    await playback.write(speech(400));
    await clock.run(500);
    expect(fake.audible).toBeGreaterThan(count + 15);
    expect(playback.underruns).toBe(0);
  });

  test.for([
    ['an interruption', 'flush', 400],
    ['the voice of the user', 'hold', 50],
  ] as const)(
    'at %s ends a device that holds too much audio, and opens it again without a word',
    async ([_what, silence, heldMs]) => {
      const clock = createCountedClock();
      const speakers = [createFakeSpeaker(clock, heldMs), createFakeSpeaker(clock, heldMs)];
      let attempts = 0;
      const { playback, told } = await open({ clock, open: async () => speakers[attempts++]!.speaker });
      await playback.write(speech(1_000));
      await clock.run(200);
      playback[silence]();
      expect(speakers[0]!.calls).toEqual(['stop']);
      speakers[0]!.lose('ended with 0');
      await clock.run(60);
      // Nor with the fading of what was interrupted: it would be heard after the silence.
      expect(speakers[1]!.frames).toEqual([]);
      // By then the reply of before has ended.
      await clock.run(600);
      await playback.write(speech(400));
      await clock.run(600);
      expect(speakers[1]!.audible).toBeGreaterThan(15);
      expect({ told, attempts }).toEqual({ told: [], attempts: 2 });
      await playback.close(new VoicectlError('interrupted', 'Interrupted'));
    },
  );

  test('can be silenced again after the service reports an interruption while a device is opened again', async () => {
    const clock = createCountedClock();
    const speakers = Array.from({ length: 3 }, () => createFakeSpeaker(clock, 400));
    let attempts = 0;
    const { playback } = await open({
      clock,
      async open() {
        const { speaker } = speakers[attempts++]!;
        if (attempts > 1) await new Promise<void>((resolve) => clock.after(100, resolve));
        return speaker;
      },
    });
    await playback.write(speech(1_000));
    await clock.run(200);
    playback.hold();
    speakers[0]!.lose('ended with 0');
    await clock.run(50);
    playback.flush();
    await clock.run(700);
    await playback.write(speech(1_000));
    await clock.run(200);
    expect(speakers[1]!.audible).toBeGreaterThan(0);
    playback.hold();
    expect(speakers.map(({ calls }) => calls)).toEqual([['stop'], ['stop'], []]);
    await playback.close(new VoicectlError('interrupted', 'Interrupted'));
  });

  describe('on a device that was held up', () => {
    async function heldUp(reopened: (attempt: number) => Promise<Speaker>) {
      const clock = createCountedClock();
      const late = createFakeSpeaker(clock);
      let attempts = 0;
      const opened = await open({
        clock,
        open: () => {
          attempts += 1;
          return attempts === 1 ? Promise.resolve(late.speaker) : reopened(attempts);
        },
      });
      await opened.playback.write(speech(1_000));
      await clock.run(100);
      late.holdUp();
      await clock.run(60);
      return {
        ...opened,
        clock,
        late,
        get attempts() {
          return attempts;
        },
      };
    }

    test('continues with a new one in the next pause, and lets the late one play the rest', async () => {
      const fresh = createFakeSpeaker(createCountedClock());
      const { playback, clock, late, told } = await heldUp(async () => fresh.speaker);
      await clock.run(400);
      expect(fresh.frames).toEqual([]);
      expect(late.calls).toEqual([]);
      // The rest of the reply, its pause, and the next reply.
      await clock.run(3_000);
      await playback.write(speech(200));
      await clock.run(100);
      expect(late.calls).toEqual(['finish']);
      expect(fresh.audible).toBeGreaterThan(0);
      expect(playback.underruns).toBe(1);
      expect(told).toEqual([]);
      await playback.close(new VoicectlError('interrupted', 'Interrupted'));
      expect(fresh.calls).toContain('stop');
    });

    test('counts its gaps within a second as one', async () => {
      const { playback, clock, late } = await heldUp(() => Promise.reject(new Error('busy')));
      await playback.write(speech(5_000));
      late.holdUp();
      await clock.run(900);
      late.holdUp();
      await clock.run(60);
      expect(playback.underruns).toBe(1);
      late.holdUp();
      await clock.run(60);
      expect(playback.underruns).toBe(2);
      await playback.close(new VoicectlError('interrupted', 'Interrupted'));
    });

    test('does not wait for a pause longer than two seconds', async () => {
      const fresh = createFakeSpeaker(createCountedClock());
      const { playback, clock, late } = await heldUp(async () => fresh.speaker);
      await playback.write(speech(5_000));
      await clock.run(2_200);
      expect(late.calls).toEqual(['finish']);
      await playback.close(new VoicectlError('interrupted', 'Interrupted'));
    });

    test('keeps it if it cannot be opened twice, and tries again 15 s later', async () => {
      const scene = await heldUp(() => Promise.reject(new VoicectlError('audio-device', 'busy')));
      await scene.playback.write(speech(30_000));
      await scene.clock.run(14_000);
      expect(scene.attempts).toBe(2);
      await scene.clock.run(2_000);
      expect(scene.attempts).toBe(3);
      expect(scene.late.calls).toEqual([]);
      await scene.playback.close(new VoicectlError('interrupted', 'Interrupted'));
    });

    test('ends the new one if that is lost before it is used, and keeps the late one', async () => {
      const fresh = createFakeSpeaker(createCountedClock());
      const { playback, clock, late, told } = await heldUp(async () => fresh.speaker);
      fresh.lose('the device accepts no audio', { stalled: true });
      await clock.run(3_000);
      expect(fresh.calls).toEqual(['stop']);
      expect(fresh.frames).toEqual([]);
      expect(late.calls).toEqual([]);
      expect(told).toEqual([]);
      await playback.close(new VoicectlError('interrupted', 'Interrupted'));
    });

    test('also ends the new one if the session ends before it is used', async () => {
      const fresh = createFakeSpeaker(createCountedClock());
      const { playback, late } = await heldUp(async () => fresh.speaker);
      await playback.close(new VoicectlError('interrupted', 'Interrupted'));
      expect(late.calls).toContain('stop');
      expect(fresh.calls).toContain('stop');
    });
  });

  test('fails when the device is lost, even while nothing is played', async () => {
    const { playback, fake } = await open();
    fake.lose('ended with 1');
    await expect(playback.failed).resolves.toMatchObject({
      code: 'audio-device',
      message: 'The loudspeaker was lost: ended with 1',
      hint: expect.stringMatching(/--sound-timeout/),
    });
    await expect(playback.write(speech(20))).rejects.toMatchObject({ code: 'audio-device' });
    await playback.close();
    expect(fake.calls).toEqual(['stop']);
  });

  test('reopens a stalled device without being told to wait for it', async () => {
    const clock = createCountedClock();
    const first = createFakeSpeaker(clock);
    const second = createFakeSpeaker(clock);
    let attempts = 0;
    const { playback, told } = await open({
      clock,
      async open() {
        attempts += 1;
        return attempts === 1 ? first.speaker : second.speaker;
      },
    });
    await playback.write(speech(1_000));
    await clock.run(100);
    first.lose('the device accepts no audio', { stalled: true });
    await clock.run(100);
    expect(told).toMatchObject([{ code: 'device-returned', message: expect.stringMatching(/stalled/) }]);
    expect(first.calls).toEqual(['stop']);
    await playback.write(speech(200));
    await clock.run(500);
    expect(second.audible).toBeGreaterThan(5);
    await playback.close(new VoicectlError('interrupted', 'Interrupted'));
  });

  test('that stalls for the fourth time within 30 s is lost', async () => {
    const clock = createCountedClock();
    const speakers = Array.from({ length: 6 }, () => createFakeSpeaker(clock));
    let attempts = 0;
    const { playback, told } = await open({ clock, open: async () => speakers[attempts++]!.speaker });
    const stall = (speaker = speakers[attempts - 1]!) =>
      speaker.lose('the device accepts no audio', { stalled: true });
    for (const healthyMs of [20_000, 10_000, 100, 100]) {
      stall();
      await clock.run(healthyMs);
    }
    expect(told.map(({ code }) => code)).toEqual(Array(4).fill('device-returned'));
    stall();
    await expect(playback.failed).resolves.toMatchObject({ code: 'audio-device' });
    expect(attempts).toBe(5);
    await playback.close();
  });

  test('does not wait for one that cannot be opened again within three seconds', async () => {
    const clock = createCountedClock();
    const first = createFakeSpeaker(clock);
    let attempts = 0;
    const { playback } = await open({
      clock,
      open() {
        attempts += 1;
        return attempts === 1 ? Promise.resolve(first.speaker) : new Promise(() => {});
      },
    });
    first.lose('the device accepts no audio', { stalled: true });
    await clock.timer(3_000);
    await clock.run(3_000);
    await expect(playback.failed).resolves.toMatchObject({
      code: 'audio-device',
      message: 'The loudspeaker was lost: the device accepts no audio',
    });
  });

  test('waits for a lost device as long as allowed, and reports when it is back', async () => {
    const clock = createCountedClock();
    const first = createFakeSpeaker(clock);
    const second = createFakeSpeaker(clock);
    let attempts = 0;
    const { playback, told } = await open({
      clock,
      deviceTimeoutMs: 5_000,
      async open() {
        attempts += 1;
        if (attempts === 1) return first.speaker;
        if (attempts < 5) throw new VoicectlError('audio-device', 'Connection refused');
        return second.speaker;
      },
    });
    await playback.write(speech(10_000));
    await clock.run(200);
    first.lose('Connection terminated');
    await clock.run(2_000);
    expect(told.map(({ code }) => code)).toEqual(['device-lost', 'device-returned']);
    // Of what was said meanwhile nothing is said late.
    await clock.run(500);
    expect(second.frames).toEqual([]);
    await playback.write(speech(200));
    await clock.run(500);
    expect(second.audible).toBeGreaterThan(5);
    await playback.close(new VoicectlError('interrupted', 'Interrupted'));
  });

  describe('of a device that is away', () => {
    const openOnce = async () => {
      const clock = createCountedClock();
      const speaker = createFakeSpeaker(clock);
      let attempts = 0;
      const opened = await open({
        clock,
        deviceTimeoutMs: 60_000,
        async open() {
          attempts += 1;
          if (attempts === 1) return speaker.speaker;
          throw new VoicectlError('audio-device', 'Connection refused');
        },
      });
      let failure: VoicectlError | undefined;
      void opened.playback.failed.then((thrown) => {
        failure = thrown;
      });
      return { ...opened, clock, speaker, failure: () => failure };
    };

    test('ends with the session, without a failure, because there is nothing to play', async () => {
      const { playback, clock, speaker, failure } = await openOnce();
      speaker.lose('Connection terminated');
      await clock.timer(60_000);
      await playback.close();
      await new Promise(setImmediate);
      expect(clock.now()).toBe(0);
      expect(clock.pending).toEqual([]);
      expect(failure()).toBeUndefined();
      await playback.write(speech(20));
    });

    test('ends if it is lost while it plays the rest', async () => {
      const { playback, clock, speaker, told, failure } = await openOnce();
      await playback.write(speech(1_000));
      const closing = playback.close();
      await clock.run(200);
      speaker.lose('Connection terminated');
      await clock.run(100);
      await closing;
      expect(told.map(({ code }) => code)).toEqual(['device-lost']);
      expect(failure()).toBeUndefined();
    });
  });

  test('that has more than five minutes to play reports once that it drops the rest', async () => {
    const { playback, told } = await open();
    for (let minute = 0; minute < 7; minute += 1) await playback.write(Buffer.alloc(1_920_000));
    expect(told.map(({ code }) => code)).toEqual(['playback-full']);
    await playback.close(new VoicectlError('interrupted', 'Interrupted'));
  });
});

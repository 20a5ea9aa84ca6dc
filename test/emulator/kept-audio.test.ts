import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createKeptAudio } from '../../src/emulator/kept-audio.ts';
import { createEmulatorEvents } from '../../src/service/events.ts';
import { speechPcm } from '../helpers/device-audio.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import '../../src/vitest.ts';

const startEmulator = setUpEmulators();

/** Sends audio in frames, and closes. */
async function say(emulator: Awaited<ReturnType<typeof startEmulator>>, device: string, pcm: Buffer) {
  const { socket } = await emulator.connect(device);
  for (let at = 0; at < pcm.length; at += 640) socket.send(pcm.subarray(at, at + 640));
  socket.close(1000);
  await emulator.waitFor('stream-closed', (event) => event.device === device);
}

describe('a test reads what a device sent', () => {
  test('as PCM and as WAV, with its length and level', async () => {
    const emulator = await startEmulator({ keepAudio: true, reply: 'silence' });
    await say(emulator, 'kitchen', speechPcm);
    const stream = emulator.stream();
    const audio = stream.audio();
    expect(stream).toMatchObject({ stream: 1, device: 'kitchen' });
    expect(audio.pcm.equals(speechPcm)).toBe(true);
    expect(audio.wav.subarray(44).equals(speechPcm)).toBe(true);
    expect(audio.wav.readUInt32LE(24)).toBe(16_000);
    expect(audio).toMatchObject({ durationMs: 3_875, droppedBytes: 0 });
    await expect(audio).toHaveSaid('question.wav');
    await expect(audio).not.toHaveSaid('hello.wav');
    await expect(audio).toHaveDuration(3_900);
    await expect(audio).toHaveLevel({ minRmsDbfs: -40, maxPeakDbfs: -1 });
    await expect(expect(audio).toHaveSaid('hello.wav')).rejects.toThrow('to have said hello.wav');
  });

  test('of each device and stream, the newest first', async () => {
    const emulator = await startEmulator({ keepAudio: true, reply: 'silence' });
    await say(emulator, 'kitchen', Buffer.alloc(640, 1));
    await say(emulator, 'hall', Buffer.alloc(1_280, 2));
    await say(emulator, 'garden', Buffer.alloc(1_920, 3));
    expect(emulator.stream({ device: 'hall' }).audio().pcm).toEqual(Buffer.alloc(1_280, 2));
    expect(emulator.stream({ stream: 1 }).audio().pcm).toEqual(Buffer.alloc(640, 1));
    expect(emulator.stream().device).toBe('garden');
    expect(() => emulator.stream({ device: 'cellar' })).toThrow('There is no stream of cellar');
  });

  test('while it still sends, but not after a reset', async () => {
    const emulator = await startEmulator({ keepAudio: true, reply: 'echo' });
    const { socket } = await emulator.connect('kitchen');
    socket.send(Buffer.alloc(640, 1));
    const stream = emulator.stream();
    await expect.poll(() => stream.audio().durationMs).toBe(20);
    emulator.control.reset();
    expect(() => stream.audio()).toThrow('no longer kept');
    expect(() => emulator.stream()).toThrow('There is no stream');
  });

  test('only if the emulator was started for it', async () => {
    const emulator = await startEmulator();
    await emulator.connect('kitchen');
    expect(() => emulator.stream()).toThrow('The audio of devices is not kept');
  });
});

describe('what is kept is bounded', () => {
  const message = (bytes: number) =>
    ({ at: 0, from: 'device', opcode: 'binary', data: Buffer.alloc(bytes), bytes }) as const;
  const minute = 60 * 32_000;

  test('of a stream that is selected by what exists', async () => {
    const emulator = await startEmulator({ keepAudio: true });
    expect(() => emulator.stream({ devise: 'd1' } as never)).toThrow('unknown option devise');
  });

  test('ten minutes of a stream; the rest is counted', () => {
    const kept = createKeptAudio(createEmulatorEvents(() => 0));
    const tap = kept.tap(1);
    for (let at = 0; at < 11; at += 1) tap.message?.(message(minute));
    expect(kept.find({ stream: 1 }).audio()).toMatchObject({ durationMs: 600_000, droppedBytes: minute });
  });

  test('a stream of very short messages takes as much memory as its audio', () => {
    const kept = createKeptAudio(createEmulatorEvents(() => 0));
    const tap = kept.tap(1);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 500_000; at += 1) tap.message?.(message(2));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16_000_000);
    expect(kept.find({ stream: 1 }).audio().pcm).toHaveLength(1_000_000);
  });

  test('forty minutes of all streams: the oldest are dropped', () => {
    const kept = createKeptAudio(createEmulatorEvents(() => 0));
    for (let stream = 1; stream <= 5; stream += 1) {
      const tap = kept.tap(stream);
      for (let at = 0; at < 9; at += 1) tap.message?.(message(minute));
    }
    expect(() => kept.find({ stream: 1 })).toThrow('There is no stream 1');
    expect(kept.find({ stream: 2 }).stream).toBe(2);
  });
});

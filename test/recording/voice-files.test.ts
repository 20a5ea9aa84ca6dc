import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createBlockJoiner } from '../../src/audio/blocks.ts';
import { createReceivedTrack } from '../../src/audio/dialogue/listener.ts';
import { createWavFile } from '../../src/audio/wav/wav-file.ts';
import { createVoiceFiles, type VoiceFiles } from '../../src/recording/voice-files.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A message of so many samples of this value. */
function samples(value: number, count: number): Buffer {
  return Buffer.from(new Int16Array(count).fill(value).buffer);
}

async function openVoices(): Promise<VoiceFiles & { read(name: 'out' | 'in' | 'both'): Buffer }> {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-voices-'));
  folders.push(folder);
  const path = (name: string) => join(folder, `${name}.wav`);
  const voices = createVoiceFiles({
    out: await createWavFile(path('out')),
    in: await createWavFile(path('in')),
    both: await createWavFile(path('both'), { channels: 2 }),
  });
  return { ...voices, read: (name) => readFileSync(path(name)).subarray(44) };
}

/** The samples of PCM, which may begin at any byte. */
const samplesOf = (pcm: Buffer) => new Int16Array(new Uint8Array(pcm).buffer);

/** One channel of stereo PCM. */
function channel(stereo: Buffer, index: 0 | 1): Buffer {
  const both = samplesOf(stereo);
  const one = new Int16Array(both.length / 2);
  for (let at = 0; at < one.length; at += 1) one[at] = both[2 * at + index] ?? 0;
  return Buffer.from(one.buffer);
}

/** Where a channel is not silent, in milliseconds. */
function sounding(mono: Buffer): { from: number; to: number } {
  const all = samplesOf(mono);
  const isSound = (sample: number) => sample !== 0;
  return { from: all.findIndex(isSound) / 16, to: (all.findLastIndex(isSound) + 1) / 16 };
}

describe('both voices on one time axis', () => {
  test('are the user on the left and the AI on the right, each at its own time', async () => {
    const voices = await openVoices();
    voices.add('out', 100, samples(1, 320));
    voices.add('in', 500, samples(2, 640));
    voices.end(1_000);
    await voices.write();
    await voices.close();
    const both = voices.read('both');
    expect(sounding(channel(both, 0))).toEqual({ from: 100, to: 120 });
    expect(sounding(channel(both, 1))).toEqual({ from: 500, to: 540 });
    expect(both).toHaveLength(1_000 * 64);
  });

  test('are written while the other voice is silent, because a recording may break off at any moment', async () => {
    const voices = await openVoices();
    for (let t = 0; t < 5_000; t += 20) {
      voices.add('out', t, samples(1, 320));
      await voices.write();
    }
    expect(voices.read('both').length).toBeGreaterThan(4_600 * 64);
    await voices.close();
  });

  test('are complete if one is minutes ahead of the other', async () => {
    const voices = await openVoices();
    const said = samples(1, 320);
    voices.add('out', 0, said);
    for (let part = 0; part < 6; part += 1) voices.add('in', 20, samples(2 + part, 16_000 * 20));
    await voices.write();
    for (let t = 20; t < 1_000; t += 20) voices.add('out', t, said);
    voices.end(1_000);
    await voices.write();
    await voices.close();
    const both = voices.read('both');
    expect(channel(both, 1).equals(voices.read('in'))).toBe(true);
    expect(sounding(channel(both, 0))).toEqual({ from: 0, to: 1_000 });
    expect(both.length).toBe((120_000 + 20) * 64);
  });

  test('match the two mono files, however messages come', async () => {
    const messages = fc.array(
      fc.record({
        direction: fc.constantFrom('out' as const, 'in' as const),
        afterMs: fc.integer({ min: 0, max: 400 }),
        bytes: fc.integer({ min: 0, max: 2_000 }).map((count) => 2 * count),
        isWritten: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(messages, async (list) => {
        const voices = await openVoices();
        const placed: { direction: 'out' | 'in'; at: number; pcm: Buffer }[] = [];
        let t = 0;
        for (const { direction, afterMs, bytes, isWritten } of list) {
          t += afterMs;
          const pcm = Buffer.alloc(bytes, 1 + (placed.length % 255));
          placed.push({ direction, at: voices.add(direction, t, pcm), pcm });
          if (isWritten) await voices.write();
        }
        voices.end(t);
        await voices.write();
        await voices.close();
        const both = voices.read('both');
        expect(channel(both, 0).equals(voices.read('out'))).toBe(true);
        expect(channel(both, 1).equals(voices.read('in'))).toBe(true);
        for (const { direction, at, pcm } of placed)
          expect(
            voices
              .read(direction)
              .subarray(at, at + pcm.length)
              .equals(pcm),
          ).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test('half a sample at the end of a message is joined with the other half', async () => {
    const voices = await openVoices();
    const pcm = samples(0x0102, 4);
    voices.add('in', 0, pcm.subarray(0, 3));
    voices.add('in', 1, pcm.subarray(3));
    voices.end(1);
    await voices.write();
    await voices.close();
    expect(channel(voices.read('both'), 1).subarray(0, 8).equals(pcm)).toBe(true);
  });

  test('are what a listener hears, wherever messages are split and the reply is interrupted', async () => {
    const steps = fc.array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: 30_000 }).map((value) => value / 100),
        bytes: fc.integer({ min: 0, max: 9_001 }),
        what: fc.constantFrom('in', 'in', 'in', 'out', 'interrupted'),
        isWritten: fc.boolean(),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const voices = await openVoices();
        const [track, joiner] = [createReceivedTrack(), createBlockJoiner()];
        const heard = Buffer.alloc(600_000);
        let t = 0;
        let value = 0;
        for (const { afterMs, bytes, what, isWritten } of list) {
          t += afterMs;
          if (what === 'interrupted') {
            voices.interrupted(t);
            const from = track.drop(t);
            if (from !== undefined) heard.fill(0, from);
          } else if (what === 'out') voices.add('out', t, samples(1, 320));
          else {
            const pcm = Buffer.from(Array.from({ length: bytes }, (_, at) => (value + at) % 251));
            value += bytes;
            voices.add('in', t, pcm);
            const whole = joiner.push(pcm);
            if (whole.length > 0) whole.copy(heard, track.place(t, whole.length));
          }
          if (isWritten) await voices.write();
        }
        voices.end(t);
        await voices.write();
        await voices.close();
        const right = channel(voices.read('both'), 1);
        expect(right.equals(heard.subarray(0, right.length))).toBe(true);
        expect(right.length).toBeGreaterThanOrEqual(track.endBytes);
      }),
      { numRuns: 15 },
    );
  });

  test('a sample that was split before an interruption is complete after it', async () => {
    const voices = await openVoices();
    const said = samples(0x0102, 48_000);
    voices.add('in', 0, said.subarray(0, 48_001));
    voices.interrupted(300.01);
    voices.add('in', 1_000, said.subarray(48_001));
    voices.end(3_000);
    await voices.write();
    await voices.close();
    const right = channel(voices.read('both'), 1);
    expect(sounding(right).to).toBeCloseTo(1_000 + (96_000 - 48_000) / 32, 0);
    const values = new Set(Array.from({ length: right.length / 2 }, (_, at) => right.readInt16LE(2 * at)));
    expect([...values].sort()).toEqual([0, 0x0102]);
  });

  test('the stereo file ends with the session, however much was dropped; the AI file has everything', async () => {
    const voices = await openVoices();
    voices.add('out', 0, samples(1, 320));
    voices.add('in', 1_500, samples(2, 60 * 16_000));
    voices.interrupted(3_300);
    voices.end(7_000);
    await voices.write();
    await voices.close();
    const both = voices.read('both');
    expect(both).toHaveLength(7_000 * 64);
    expect(sounding(channel(both, 1))).toEqual({ from: 1_500, to: 3_300 });
    expect(voices.read('out')).toHaveLength(7_000 * 32);
    expect(voices.read('in')).toHaveLength(61_500 * 32);
  });
});

test('a file that cannot be closed is reported after all of them were closed', async () => {
  const closed: string[] = [];
  const file = (path: string, failure?: Error) => ({
    path,
    write: async () => {},
    async close() {
      closed.push(path);
      if (failure !== undefined) throw failure;
    },
  });
  const full = new Error('no space left');
  const voices = createVoiceFiles({ out: file('out', full), in: file('in'), both: file('both') });
  await expect(voices.close()).rejects.toBe(full);
  expect(closed).toEqual(['out', 'in', 'both']);
});

import { truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wireFormat } from '../../src/audio/source.ts';
import { makeWavHeader } from '../../src/audio/wav/wav-header.ts';
import type { FaultAt } from '../../src/protocol/faults.ts';
import { readFault } from '../../src/protocol/read-fault.ts';
import type { BundleWriter } from '../../src/recording/bundle-writer.ts';
import { readCall } from '../../src/recording/read-recording.ts';
import { judgeRecordedVoice } from '../../src/recording/recorded-voice.ts';
import { createReplySpoiler } from '../../src/service/faults/reply-faults.ts';
import { message, setUpBundles } from '../helpers/bundles.ts';
import { speechPcm } from '../helpers/device-audio.ts';
import { framesOf } from '../helpers/pcm.ts';
import { fixture, setUpSandbox } from '../helpers/voicectl.ts';

const bundles = setUpBundles();
const sandbox = setUpSandbox();
// It clicks whatever the user says.
const fault = readFault('clicks:every=1s,db=-6') as FaultAt<'reply'>;
const clicking = createReplySpoiler(fault, {} as never).spoil(speechPcm);

test('a click in a recording is placed where it is heard', async () => {
  const recording = await bundles.write((writer) => {
    for (const [index, frame] of framesOf(clicking).entries()) writer.audio('in', 700 + index * 20, frame);
  });
  const { judgements, moments } = judgeRecordedVoice(recording);
  expect(judgements.map(({ kind, is }) => [kind, is])).toEqual([['click', 'finding']]);
  expect(moments.map(({ t, kind }) => [Math.round(t), kind])).toEqual([[1_700, 'click']]);
});

test('a clean recording has no findings', async () => {
  const recording = await bundles.write((writer) => {
    for (const [index, frame] of framesOf(speechPcm).entries()) writer.audio('in', 700 + index * 20, frame);
  });
  expect(judgeRecordedVoice(recording)).toMatchObject({ judgements: [], moments: [], unjudged: null });
});

test('a mono WAV is the voice of the AI, and the end of the file is not judged', async () => {
  const recording = await readCall(fixture('question.wav'), { swap: false });
  expect(recording.audio.out.length).toBe(0);
  expect(judgeRecordedVoice(recording)).toMatchObject({
    judgements: [],
    unjudged: null,
    activeDbov: expect.any(Number),
  });
  await expect(readCall(fixture('question.wav'), { swap: true })).rejects.toThrow('--swap needs 2');
});

test('a WAV with more channels than two voices is refused', async () => {
  const audio = Buffer.alloc(3 * 16_000);
  const header = makeWavHeader({ ...wireFormat, channels: 3 }, audio.length);
  const path = sandbox.write('three.wav', Buffer.concat([header, audio]));
  await expect(readCall(path, { swap: false })).rejects.toThrow('it has 3 channels, but must have 1 or 2');
});

test('a WAV may be as long as an hour, and not longer', async () => {
  const header = makeWavHeader(wireFormat, 3_601 * 32_000);
  const path = sandbox.write('long.wav', header);
  truncateSync(path, header.length + 3_601 * 32_000);
  await expect(readCall(path, { swap: false })).rejects.toThrow('The audio is longer than 3,600 s');
});

/** A reply that ends in the middle of a sound; `fill` adds what else passes. */
async function judgeCut(fill: (writer: BundleWriter, t: number) => void) {
  const bytes = 640;
  const cut = speechPcm.subarray(0, 80_000);
  const recording = await bundles.write((writer) => {
    for (let at = 0; at < cut.length; at += bytes) {
      const t = 700 + at / 32;
      fill(writer, t);
      writer.audio('in', t, cut.subarray(at, at + bytes));
    }
  });
  return judgeRecordedVoice(recording).judgements.map(({ kind }) => kind);
}

test('a reply that stops because the user speaks does not count as cut off, like in its session', async () => {
  expect(await judgeCut(() => {})).toEqual(['cut-off']);
  const said = framesOf(speechPcm);
  expect(await judgeCut((writer, t) => writer.audio('out', t, said[(t - 700) / 20]!))).toEqual([]);
});

test('audio that ends with the stream does not count as cut off', async () => {
  const close = (writer: BundleWriter, t: number) => {
    if (t === 700 + 79_360 / 32)
      writer.wire({ t: t + 100, type: 'close', by: 'client', code: 1000, reason: '' });
  };
  expect(await judgeCut(close)).toEqual([]);
});

test('a finding after an interruption is placed where it is heard', async () => {
  const long = Buffer.concat(Array.from({ length: 16 }, () => speechPcm));
  const recording = await bundles.write((writer) => {
    writer.audio('in', 0, long);
    message(writer, 2_000, 'status', { type: 'interrupted' });
    for (const [index, frame] of framesOf(clicking).entries()) writer.audio('in', 5_000 + index * 20, frame);
  });
  expect(judgeRecordedVoice(recording).moments.map(({ t, kind }) => [Math.round(t), kind])).toEqual([
    [6_000, 'click'],
  ]);
});

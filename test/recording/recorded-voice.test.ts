import { expect, test } from 'vitest';
import type { FaultAt } from '../../src/protocol/faults.ts';
import { readFault } from '../../src/protocol/read-fault.ts';
import { readCall } from '../../src/recording/read-recording.ts';
import { judgeRecordedVoice } from '../../src/recording/recorded-voice.ts';
import { createReplySpoiler } from '../../src/service/faults/reply-faults.ts';
import { setUpBundles } from '../helpers/bundles.ts';
import { speechPcm } from '../helpers/device-audio.ts';
import { framesOf } from '../helpers/pcm.ts';
import { fixture } from '../helpers/voicectl.ts';

const bundles = setUpBundles();
// It clicks whatever the user says.
const fault = readFault('clicks:every=1s,db=-6') as FaultAt<'reply'>;
const clicking = createReplySpoiler(fault, {} as never).spoil(speechPcm);

test('a click in a recording stands where it is heard', async () => {
  const recording = await bundles.write((writer) => {
    for (const [index, frame] of framesOf(clicking).entries()) writer.audio('in', 700 + index * 20, frame);
  });
  const { judgements, moments } = judgeRecordedVoice(recording);
  expect(judgements.map(({ kind, is }) => [kind, is])).toEqual([['click', 'finding']]);
  expect(moments.map(({ t, kind }) => [Math.round(t), kind])).toEqual([[1_700, 'click']]);
});

test('nothing is found in a clean one', async () => {
  const recording = await bundles.write((writer) => {
    for (const [index, frame] of framesOf(speechPcm).entries()) writer.audio('in', 700 + index * 20, frame);
  });
  expect(judgeRecordedVoice(recording)).toMatchObject({ judgements: [], moments: [], unjudged: null });
});

test('a mono WAV is a voice, and the end of the file is not judged', async () => {
  const recording = await readCall(fixture('question.wav'), { swap: false });
  expect(recording.audio.out.length).toBe(0);
  expect(judgeRecordedVoice(recording)).toMatchObject({
    judgements: [],
    unjudged: null,
    activeDbov: expect.any(Number),
  });
  await expect(readCall(fixture('question.wav'), { swap: true })).rejects.toThrow('--swap needs 2');
});

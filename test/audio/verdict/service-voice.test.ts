import { expect, test } from 'vitest';
import { measureLevel } from '../../../src/audio/level.ts';
import { createServiceVoice } from '../../../src/audio/verdict/service-voice.ts';
import { encodings, speechPcm } from '../../helpers/device-audio.ts';

/** A service that sends this, in frames of 20 ms, to a device that sends that. */
function hear(reply: Buffer, said: Buffer = Buffer.alloc(0)) {
  let now = 0;
  const warnings: string[] = [];
  const voice = createServiceVoice(({ finding }) => warnings.push(finding));
  for (let at = 0; at < reply.length; at += 640) {
    const [frame, own] = [reply.subarray(at, at + 640), said.subarray(at, at + 640)];
    if (own.length > 0) voice.sent(own, measureLevel(own), now);
    voice.received(frame, measureLevel(frame), now);
    now += 20;
  }
  now += 1_000;
  voice.end(now);
  return { warnings, ...voice.summary() };
}

test('a good voice is judged, and nothing is found', () => {
  expect(hear(speechPcm)).toMatchObject({ warnings: [], findings: [], remarks: [], unjudged: null });
});

test('a kind of finding is one warning, and is in the summary', () => {
  const stereo = encodings.stereo();
  expect(hear(Buffer.concat([stereo, stereo]))).toMatchObject({
    warnings: ['stereo'],
    findings: ['stereo'],
    remarks: ['the service’s audio looks like stereo'],
  });
});

test('a service that echoes what it hears is not judged, and says so', () => {
  const swapped = encodings.swapped();
  expect(hear(swapped, swapped)).toEqual({
    ...{ warnings: [], findings: [], remarks: [], judgements: [] },
    ...{ activeDbov: null, floorDbov: null, bandwidthHz: null },
    unjudged: 'the service echoes what it hears',
  });
});

test('a reply of silence or tones is not judged, and says so', () => {
  expect(hear(Buffer.alloc(64_000)).unjudged).toBe('less than a second of speech');
});

test('a message that is sent twice hides no clicks that are far from it', () => {
  const clicked = Buffer.from(Buffer.concat([speechPcm, speechPcm]));
  for (let at = speechPcm.length + 640 * 50; at + 640 < clicked.length; at += 640 * 10)
    for (let index = 0; index < 24; index += 1) {
      const wanted = clicked.readInt16LE(at + 2 * index) + 20_000 * 0.8 ** index;
      clicked.writeInt16LE(Math.round(Math.min(0x7fff, wanted)), at + 2 * index);
    }
  const twiceAt = 640 * 60;
  const twice = Buffer.concat([clicked.subarray(0, twiceAt), clicked.subarray(twiceAt - 640)]);
  expect(hear(twice).findings).toEqual(expect.arrayContaining(['repeat', 'click']));
});

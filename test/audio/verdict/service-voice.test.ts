import { describe, expect, test } from 'vitest';
import { createServiceVoice } from '../../../src/audio/verdict/service-voice.ts';
import { encodings, speechPcm } from '../../helpers/device-audio.ts';

/** A reply that ends in the middle of a sound. */
const cutReply = speechPcm.subarray(0, 80_000);

/** A service that sends this, in frames of 20 ms, to a device that sends that. */
function hear(reply: Buffer, said: Buffer = Buffer.alloc(0)) {
  let now = 0;
  const warnings: string[] = [];
  const voice = createServiceVoice(({ finding }) => warnings.push(finding));
  for (let at = 0; at < reply.length; at += 640) {
    const [frame, own] = [reply.subarray(at, at + 640), said.subarray(at, at + 640)];
    if (own.length > 0) voice.sent(own, now);
    voice.received(frame, now);
    now += 20;
  }
  now += 2_000;
  voice.end(now);
  return { warnings, ...voice.summary() };
}

test('a good voice is judged, without findings', () => {
  expect(hear(speechPcm)).toMatchObject({ warnings: [], findings: [], remarks: [], unjudged: null });
});

test('each kind of finding is one warning, and is in the summary', () => {
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

test('a message that is sent twice does not hide clicks far from it', () => {
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

test('a click after an interrupted burst was heard when its reply came', () => {
  const ago: number[] = [];
  const voice = createServiceVoice(({ agoMs }) => ago.push(agoMs ?? Number.NaN));
  const long = Buffer.concat(Array.from({ length: 16 }, () => speechPcm));
  voice.received(long, 0);
  voice.interrupted(2_000);
  const clicked = Buffer.from(speechPcm);
  for (const at of [32_000, 48_000, 64_000, 80_000]) clicked.writeInt16LE(30_000, at);
  for (let at = 0; at < clicked.length; at += 640) {
    const frame = clicked.subarray(at, at + 640);
    voice.received(frame, 5_000 + at / 32);
  }
  voice.end(12_000);
  expect(ago.length).toBeGreaterThan(0);
  for (const one of ago) expect(one).toBeGreaterThan(0);
});

test('a reply that stops because the user speaks does not count as cut off', () => {
  expect(hear(cutReply).findings).toEqual(['cut-off']);
  const bargeIn = Buffer.concat([Buffer.alloc(32_000), speechPcm]).subarray(0, cutReply.length);
  expect(hear(cutReply, bargeIn).findings).toEqual([]);
});

describe('a service that begins its reply again', () => {
  /** Sends the first 300 ms of a reply as often as said, then all of it, with this pause in between. */
  const restart = (reply: Buffer, { times, pauseMs }: { times: number; pauseMs: number }) => {
    let now = 0;
    const voice = createServiceVoice(() => {});
    const say = (pcm: Buffer) => {
      for (let at = 0; at < pcm.length; at += 640) {
        voice.received(pcm.subarray(at, at + 640), now);
        now += 20;
      }
    };
    say(speechPcm);
    now += 2_000;
    for (let time = 0; time < times; time += 1) {
      say(reply.subarray(0, 9_600));
      if (pauseMs < 500) voice.interrupted(now);
      else voice.sent(speechPcm.subarray(0, 32_000), now);
      now += pauseMs;
    }
    say(reply);
    now += 2_000;
    voice.end(now);
    return voice.summary().findings;
  };
  const loud = speechPcm.subarray(640 * 20);

  test.each([
    ['once', 'after a pause', { times: 1, pauseMs: 800 }],
    ['three times', 'after a pause', { times: 3, pauseMs: 800 }],
    ['once', 'right after an interruption', { times: 1, pauseMs: 100 }],
    ['three times', 'right after an interruption', { times: 3, pauseMs: 100 }],
  ])('%s %s sends nothing twice', (_times, _when, how) => {
    expect(restart(loud, how)).not.toContain('repeat');
  });

  test('still sends a message twice if it does so within a reply', () => {
    const at = 640 * 60;
    const twice = Buffer.concat([loud.subarray(0, at + 640), loud.subarray(at)]);
    expect(restart(twice, { times: 1, pauseMs: 800 })).toContain('repeat');
  });
});

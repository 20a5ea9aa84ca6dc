import { describe, expect, test } from 'vitest';
import { createResampler } from '../../../src/audio/resample.ts';
import { Listener } from '../../../src/audio/verdict/listener.ts';
import { speechAt } from '../../helpers/device-audio.ts';

const speech = speechAt(16_000);

/** What is heard in messages of 20 ms. */
function hear(pcm: Buffer, { frameBytes = 640, byItself = true } = {}) {
  const listener = new Listener();
  for (let at = 0; at < pcm.length; at += frameBytes) listener.push(pcm.subarray(at, at + frameBytes));
  listener.end({ byItself });
  return { heard: listener.drain(), ...listener.measures(), unjudged: listener.unjudged };
}

const kinds = (pcm: Buffer) => [...new Set(hear(pcm).heard.map(({ kind }) => kind))];

/** Changes each sample; what does not fit is clipped. */
function change(pcm: Buffer, value: (sample: number, index: number) => number): Buffer {
  const changed = Buffer.from(pcm);
  for (let index = 0; index < pcm.length / 2; index += 1) {
    const wanted = Math.round(value(pcm.readInt16LE(2 * index), index));
    changed.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, wanted)), 2 * index);
  }
  return changed;
}

/** Places, in samples, of so many messages in which somebody speaks. */
function spoken(pcm: Buffer, count: number): number[] {
  const loud: number[] = [];
  for (let at = 6_400; at + 4_000 < pcm.length / 2; at += 320) {
    const peak = (from: number) =>
      Math.max(...Array.from({ length: 160 }, (_, index) => Math.abs(pcm.readInt16LE(2 * (from + index)))));
    if (peak(at - 160) > 2_000 && peak(at) > 2_000 && peak(at + 320) > 2_000) loud.push(at);
  }
  const step = Math.floor(loud.length / count);
  return Array.from({ length: count }, (_, index) => loud[index * step] as number);
}

describe('a voice without a mistake', () => {
  test.each(['hello.wav', 'question.wav', 'two-turns.wav', 'answer.wav'])(
    '%s is judged, and nothing is heard',
    (name) => {
      const { heard, unjudged } = hear(speechAt(16_000, name));
      expect(heard.filter(({ isCertain }) => isCertain)).toEqual([]);
      expect(unjudged).toBeUndefined();
    },
  );

  test.each([2, 320, 642, 1_001, 3_200])('is the same in messages of %d bytes', (frameBytes) => {
    expect(hear(speech, { frameBytes }).heard).toEqual([]);
  });

  test('has a level, a floor and a bandwidth', () => {
    const { activeDbov, floorDbov, bandwidthHz } = hear(speech);
    expect(activeDbov).toBeGreaterThan(-30);
    expect(activeDbov).toBeLessThan(-10);
    expect(floorDbov).toBeLessThan(-55);
    expect(bandwidthHz).toBeGreaterThan(4_000);
  });

  test.each([
    [
      'a tone',
      change(Buffer.alloc(96_000), (_, index) => 9_000 * Math.sin((2 * Math.PI * 440 * index) / 16_000)),
    ],
    ['silence', Buffer.alloc(96_000)],
    ['a word', speech.subarray(0, 16_000)],
  ])('%s is not judged, and says so', (_what, pcm) => {
    expect(hear(pcm)).toMatchObject({ heard: [], unjudged: 'less than a second of speech' });
  });
});

describe('it hears', () => {
  test('clipping below full scale', () => {
    const limit = 6_000;
    const clipped = change(speech, (sample) => Math.max(-limit, Math.min(limit, sample)));
    expect(kinds(clipped)).toEqual(['clipping']);
  });

  test('clicks at message boundaries, with their places', () => {
    const places = spoken(speech, 4);
    const clicks = change(speech, (sample, index) => {
      const since = places.findLast((place) => place <= index);
      const age = since === undefined ? 100 : index - since;
      return sample + (age < 24 ? 9_000 * 0.8 ** age : 0);
    });
    const { heard } = hear(clicks);
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(['click']));
    expect(heard.some(({ isCertain, at }) => isCertain && places.includes(at))).toBe(true);
  });

  test.each([35_513, 49_022])('one wrong sample of -12 dBFS at a loud moment (%d)', (place) => {
    const wrong = change(speech, (sample, index) =>
      index === place ? sample - Math.sign(sample) * 8_231 : sample,
    );
    expect(hear(wrong).heard).toMatchObject([{ kind: 'click', at: place, isCertain: false }]);
  });

  test('missing audio, with its place and length; its edges are not clicks', () => {
    const places = spoken(speech, 5);
    const holes = change(speech, (sample, index) =>
      places.some((place) => index >= place && index < place + 320) ? 0 : sample,
    );
    const { heard } = hear(holes);
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(['dropout']));
    expect(heard.filter(({ isCertain }) => isCertain).length).toBeGreaterThan(1);
    for (const { at, length } of heard) {
      expect(places.some((place) => Math.abs(place - at) < 20)).toBe(true);
      expect(Math.abs(length - 320)).toBeLessThan(20);
    }
  });

  test('missing audio at the end of a long reply whose floor is known from before', () => {
    let state = 1;
    const long = change(Buffer.concat([speech, speech, speech, speech]), (sample) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return sample + ((state >>> 16) % 64) - 32;
    });
    // Ten seconds are judged before; not at the seams of messages.
    const places = spoken(long, 400)
      .filter((place) => place > 161_000 && place < 169_000)
      .map((place) => place + 90);
    const last = places.at(-1) as number;
    const holes = change(long, (sample, index) =>
      [places[0] as number, last].some((place) => index >= place && index < place + 320) ? 0 : sample,
    );
    expect(last - (places[0] as number)).toBeGreaterThan(1_000);
    const found = hear(holes.subarray(0, 2 * last + 3_200)).heard.filter(({ kind }) => kind === 'dropout');
    expect(found).toMatchObject([{ isCertain: true }, { isCertain: true }]);
  });

  test('a message that is sent twice', () => {
    const [at = 0] = spoken(speech, 3);
    const twice = Buffer.concat([speech.subarray(0, 2 * at + 640), speech.subarray(2 * at)]);
    expect(hear(twice).heard).toMatchObject([{ kind: 'repeat', isCertain: true, at: at + 320, length: 320 }]);
  });

  test('an end in the middle of a sound, unless somebody stopped it', () => {
    const places = spoken(speech, 20).filter((place) => place > 24_000);
    const found = places.filter((place) =>
      hear(speech.subarray(0, 2 * place)).heard.some(({ kind }) => kind === 'cut-off'),
    );
    expect(found.length).toBeGreaterThan(places.length / 2);
    for (const place of found)
      expect(hear(speech.subarray(0, 2 * place), { byItself: false }).heard).toEqual([]);
  });

  test('hum in its pauses', () => {
    const hum = (peak: number) =>
      change(speech, (sample, index) => sample + peak * Math.sin((2 * Math.PI * 100 * index) / 16_000));
    expect(hear(hum(600)).heard).toMatchObject([{ kind: 'noise', isCertain: false }]);
    expect(hear(hum(3_000)).heard).toMatchObject([{ kind: 'noise', isCertain: true }]);
    expect(hear(hum(600)).floorDbov).toBeCloseTo(-38, -1);
  });

  test.each([300, 600, 900])('a DC offset of %d is not noise', (offset) => {
    const { heard, floorDbov } = hear(change(speech, (sample) => sample + offset));
    expect(heard).toEqual([]);
    expect(floorDbov).toBeLessThan(-55);
  });

  test.each([
    ['quiet-voice', 0.05],
    ['loud-voice', 3],
  ])('%s', (kind, factor) => {
    expect(kinds(change(speech, (sample) => sample * factor))).toContain(kind);
  });

  test('a change of level from one reply to the next', () => {
    const listener = new Listener();
    for (const pcm of [speech, change(speech, (sample) => sample / 4)]) {
      for (let at = 0; at < pcm.length; at += 640) listener.push(pcm.subarray(at, at + 640));
      listener.end({ byItself: true });
    }
    expect(listener.drain()).toMatchObject([
      { kind: 'level-jump', figure: { value: expect.closeTo(-12, 1), unit: 'dB' } },
    ]);
  });

  test.each([
    ['one that is quiet until then', [0.05, 0.05, 0.25], ['quiet-voice', 'quiet-voice', 'level-jump']],
    ['one that is quiet from then on', [0.5, 0.05, 0.05], ['level-jump', 'quiet-voice']],
    ['a loud one', [3, 3, 0.5], ['loud-voice', 'loud-voice', 'level-jump']],
  ])('a change of level, which explains that reply but no other of %s', (_voice, factors, expected) => {
    const listener = new Listener();
    for (const factor of factors) {
      const pcm = change(speech, (sample) => sample * factor);
      for (let at = 0; at < pcm.length; at += 640) listener.push(pcm.subarray(at, at + 640));
      listener.end({ byItself: true });
    }
    const levels = new Set(['quiet-voice', 'loud-voice', 'level-jump']);
    expect(
      listener
        .drain()
        .map(({ kind }) => kind)
        .filter((kind) => levels.has(kind)),
    ).toEqual(expected);
  });

  test('a telephone, by the missing sound above 4 kHz', () => {
    const phone = speechAt(8_000);
    const resampler = createResampler(8_000, 16_000);
    const narrow = Float32Array.from({ length: phone.length / 2 }, (_, at) => phone.readInt16LE(2 * at));
    const wide = [...resampler.push(narrow), ...resampler.flush()];
    const pcm = change(Buffer.alloc(2 * wide.length), (_, index) => wide[index] as number);
    expect(kinds(pcm)).toEqual(['narrow-band']);
    expect(hear(pcm).bandwidthHz).toBeLessThan(4_500);
  });
});

test('noise that is sent twice is not a repeat, but half a second of speech is, wherever it is', () => {
  let state = 1;
  const noise = change(Buffer.alloc(16_000), () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % 8_000;
  });
  expect(hear(Buffer.concat(Array.from({ length: 20 }, () => [noise, noise]).flat())).heard).toEqual([]);
  const places = Array.from({ length: 12 }, (_, index) => 36_000 + 3_000 * index);
  const found = places.filter((at) => {
    const twice = Buffer.concat([speech.subarray(0, at + 16_000), speech.subarray(at)]);
    return hear(twice).heard.some(({ kind, length }) => kind === 'repeat' && length >= 8_000);
  });
  expect(found).toEqual(places);
});

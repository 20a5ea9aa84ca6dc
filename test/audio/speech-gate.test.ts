import { describe, expect, test } from 'vitest';
import { createSpeechGate, type GateEvent, type SpeechGateOptions } from '../../src/audio/speech-gate.ts';
import { createRandom, makeNoise, makeTone, toPcm } from './tone.ts';

const rate = 16_000;
const silence = (ms: number) => new Float32Array((ms * rate) / 1000);
const tone = (ms: number, amplitude = 0.3) => makeTone({ hz: 220, rate, seconds: ms / 1000, amplitude });
/** Syllables: 200 ms of a hum that swells and fades, with 60 ms between them. */
function speech(ms: number, amplitude = 0.3): Float32Array {
  const swell = (i: number) => {
    const at = (i % (0.26 * rate)) / (0.2 * rate);
    return at < 1 ? Math.sin(Math.PI * at) ** 0.5 : 0.01;
  };
  return tone(ms, amplitude).map((sample, i) => sample * swell(i));
}
function join(...parts: Float32Array[]): Float32Array {
  return Float32Array.from(parts.flatMap((part) => [...part]));
}
function withNoise(samples: Float32Array, rmsDbfs: number): Float32Array {
  const noise = makeNoise(samples.length, rmsDbfs, createRandom(5));
  return samples.map((sample, i) => sample + noise[i]!);
}
function run(samples: Float32Array, options?: SpeechGateOptions, size = 640): GateEvent[] {
  const gate = createSpeechGate(options);
  const pcm = toPcm(samples);
  const events: GateEvent[] = [];
  for (let i = 0; i < pcm.length; i += size) events.push(...gate.push(pcm.subarray(i, i + size)));
  return [...events, ...gate.end()];
}

const fourTurns = join(
  silence(500),
  speech(1_500),
  silence(1_200),
  speech(800),
  silence(1_000),
  speech(3_000),
  silence(1_500),
  speech(600),
  silence(1_000),
);
const starts = [500, 3_200, 5_000, 9_500];
const ends = [2_000, 4_000, 8_000, 10_100];

describe.each([
  ['clean', fourTurns],
  ['with noise at −50 dBFS', withNoise(fourTurns, -50)],
  ['with noise at −40 dBFS', withNoise(fourTurns, -40)],
  ['with a constant offset', fourTurns.map((sample) => sample + 0.1)],
])('four turns %s', (_name, samples) => {
  test('are found at their places', () => {
    const events = run(samples);
    expect(events.map((event) => event.type)).toEqual(starts.flatMap(() => ['speech-start', 'speech-end']));
    events.forEach((event, i) => {
      const place = (i % 2 === 0 ? starts : ends)[Math.floor(i / 2)]!;
      expect(Math.abs(event.atMs - place)).toBeLessThanOrEqual(80);
    });
  });
});

test.each([1, 7, 333, 4096, 1_000_000])('turns in noise are the same in pieces of %i bytes', (size) => {
  const firstTurns = withNoise(fourTurns.subarray(0, 4.8 * rate), -40);
  expect(run(firstTurns, {}, size)).toEqual(run(firstTurns));
});

test('a turn begins with its first voiced frame and ends with its last', () => {
  expect(run(join(silence(100), tone(1_000), silence(900)))).toEqual([
    { type: 'speech-start', atMs: 100 },
    { type: 'speech-end', atMs: 1_100, reason: 'silence' },
  ]);
});

test('speech from the very first frame is found', () => {
  expect(run(join(speech(1_000), silence(900)))[0]).toEqual({ type: 'speech-start', atMs: 0 });
  expect(run(withNoise(join(speech(1_000), silence(900)), -40))[0]).toEqual({
    type: 'speech-start',
    atMs: 0,
  });
});

test.each([60, 20])('a click of %i ms is not a turn', (ms) => {
  expect(run(join(silence(500), tone(ms, 0.9), silence(500)))).toEqual([]);
});

test.each([
  ['silence', silence(5_000)],
  ['noise at −50 dBFS', makeNoise(80_000, -50)],
  ['noise at −40 dBFS', makeNoise(80_000, -40)],
  ['a hum that is too soft', tone(5_000, 0.005)],
])('%s is not a turn', (_name, samples) => {
  expect(run(samples)).toEqual([]);
});

test('a pause shorter than the hang-over does not end a turn', () => {
  expect(run(join(tone(500), silence(680), tone(500), silence(900)))).toHaveLength(2);
  expect(run(join(tone(500), silence(720), tone(500), silence(900)))).toHaveLength(4);
  expect(run(join(tone(500), silence(300), tone(500), silence(900)), { hangOverMs: 200 })).toHaveLength(4);
});

test.each([-25, -10])(
  'noise at %i dBFS from the first frame is recognised as noise within 6 s',
  (rmsDbfs) => {
    const events = run(makeNoise(12 * rate, rmsDbfs));
    expect(events.map((event) => event.type)).toEqual(['speech-start', 'speech-end']);
    expect(events[1]?.atMs).toBeLessThan(6_000);
  },
);

test('speech above loud noise is found once the noise is known', () => {
  const noise = makeNoise(6 * rate, -30);
  const talk = withNoise(join(speech(1_500, 0.5), silence(1_500)), -30);
  const events = run(join(noise, talk)).filter((event) => event.atMs >= 5_500);
  expect(events.map((event) => event.type)).toEqual(['speech-start', 'speech-end']);
  expect(Math.abs(events[0]!.atMs - 6_000)).toBeLessThanOrEqual(80);
});

test('endless speech is split into turns of the maximum length', () => {
  const events = run(speech(31_000));
  expect(events.map((event) => ('reason' in event ? event.reason : event.type))).toEqual([
    'speech-start',
    'max-turn',
    'speech-start',
    'ended',
  ]);
  expect(events[1]?.atMs).toBeLessThanOrEqual(30_000);
});

test('the end of the audio closes only an open turn', () => {
  const gate = createSpeechGate();
  expect(gate.end()).toEqual([]);
  gate.push(toPcm(tone(500)));
  expect(gate.speaking).toBe(true);
  expect(gate.end()).toEqual([{ type: 'speech-end', atMs: 500, reason: 'ended' }]);
  expect(gate.speaking).toBe(false);
  expect(gate.end()).toEqual([]);
});

test('the position counts every byte that was pushed', () => {
  const gate = createSpeechGate();
  gate.push(Buffer.alloc(0));
  gate.push(Buffer.alloc(33));
  gate.push(Buffer.alloc(31));
  expect(gate.positionMs).toBe(2);
});

/** A tone of this level; 200 Hz is four whole waves in every frame. */
const level = (ms: number, dbfs: number) =>
  makeTone({ hz: 200, rate, seconds: ms / 1000, amplitude: Math.SQRT2 * 10 ** (dbfs / 20) });

describe('a frame is voiced', () => {
  test.each([
    [-44.9, 2],
    [-45.1, 0],
  ])('from −45 dBFS on if everything else is silence: at %d dBFS there are %d events', (dbfs, count) => {
    expect(run(join(silence(5_000), level(500, dbfs), silence(900)))).toHaveLength(count);
  });

  test.each([
    [-29.9, 2],
    [-30.1, 0],
  ])('from 10 dB above the noise on, which is at −40 dBFS: at %d dBFS there are %d events', (dbfs, count) => {
    expect(run(join(level(5_000, -40), level(500, dbfs), level(900, -40)))).toHaveLength(count);
  });
});

test.each([
  [3, 0],
  [4, 2],
])('%d voiced frames out of six: %d events', (frames, count) => {
  const voiced = join(
    ...Array.from({ length: frames }, () => join(tone(20), silence(frames === 4 ? 0 : 20))),
  );
  expect(run(join(silence(500), voiced, silence(900)))).toHaveLength(count);
});

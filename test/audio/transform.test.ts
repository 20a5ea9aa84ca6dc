import { expect, it } from 'vitest';
import { createCorrelation, createTransform } from '../../src/audio/transform.ts';

it('correlates a piece with audio at each place, as the sum of the products says', () => {
  const { products } = createCorrelation(200, 320);
  const piece = Float32Array.from({ length: 200 }, (_, at) => Math.sin(at * at));
  const audio = Float32Array.from({ length: 320 }, (_, at) => Math.cos(at * at * 1.7));
  // What an earlier call left is not in the result of a later one.
  products(audio.slice(0, 200), piece);
  const found = products(piece, audio);
  for (let place = 0; place <= audio.length - piece.length; place += 1) {
    const expected = piece.reduce((sum, sample, at) => sum + sample * (audio[place + at] ?? 0), 0);
    expect(found[place]).toBeCloseTo(expected, 4);
  }
});

it('finds the frequencies of complex numbers', () => {
  const size = 16;
  const { re, im, placeOf, transform } = createTransform(size);
  for (let at = 0; at < size; at += 1) {
    re[placeOf[at] ?? 0] = Math.cos((2 * Math.PI * 3 * at) / size);
    im[placeOf[at] ?? 0] = Math.sin((2 * Math.PI * 3 * at) / size);
  }
  transform();
  for (let at = 0; at < size; at += 1) expect(re[at]).toBeCloseTo(at === 3 ? size : 0, 9);
});

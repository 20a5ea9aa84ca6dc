/**
 * A Fourier transform of `size` complex numbers in place; `size` is a power of two. Before `transform`, write the value of an
 * index to `placeOf` that index; afterwards each frequency is at its own index.
 */
export function createTransform(size: number) {
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const cosine = Float64Array.from({ length: size }, (_, at) => Math.cos((2 * Math.PI * at) / size));
  const sine = Float64Array.from({ length: size }, (_, at) => -Math.sin((2 * Math.PI * at) / size));
  const placeOf = Uint16Array.from({ length: size }, (_, at) => reverseBits(at, Math.log2(size)));
  /** Joins pairs of transforms of `half` numbers. */
  const join = (half: number) => {
    const turn = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half)
      for (let at = 0; at < half; at += 1) {
        const even = start + at;
        const odd = even + half;
        const c = cosine[at * turn] as number;
        const s = sine[at * turn] as number;
        const x = (re[odd] as number) * c - (im[odd] as number) * s;
        const y = (re[odd] as number) * s + (im[odd] as number) * c;
        re[odd] = (re[even] as number) - x;
        im[odd] = (im[even] as number) - y;
        re[even] = (re[even] as number) + x;
        im[even] = (im[even] as number) + y;
      }
  };
  const transform = () => {
    for (let half = 1; half < size; half *= 2) join(half);
  };
  return { re, im, placeOf, cosine, transform };
}

/**
 * Helps to find where audio is most like a shorter piece: `products(piece, audio)` returns the dot product of the piece with
 * the audio at each place at which it fits. The result is valid until the next call.
 */
export function createCorrelation(pieceLength: number, audioLength: number) {
  const size = 2 ** Math.ceil(Math.log2(audioLength));
  const both = createTransform(size);
  const product = createTransform(size);
  const { placeOf } = both;
  return {
    products(piece: Float32Array, audio: Float32Array): Float64Array {
      both.re.fill(0);
      both.im.fill(0);
      // One transform for both: the even part of the spectrum comes from the real input, the odd part from the imaginary one.
      for (let at = 0; at < audioLength; at += 1) both.re[placeOf[at] as number] = audio[at] as number;
      for (let at = 0; at < pieceLength; at += 1) both.im[placeOf[at] as number] = piece[at] as number;
      both.transform();
      for (let at = 0; at < size; at += 1) {
        const mirror = (size - at) % size;
        const audioRe = (both.re[at] as number) + (both.re[mirror] as number);
        const audioIm = (both.im[at] as number) - (both.im[mirror] as number);
        const pieceRe = (both.im[at] as number) + (both.im[mirror] as number);
        const pieceIm = (both.re[mirror] as number) - (both.re[at] as number);
        const place = placeOf[at] as number;
        product.re[place] = (pieceRe * audioRe + pieceIm * audioIm) / (4 * size);
        product.im[place] = (pieceIm * audioRe - pieceRe * audioIm) / (4 * size);
      }
      product.transform();
      return product.re;
    },
  };
}

function reverseBits(value: number, bits: number): number {
  let reversed = 0;
  for (let bit = 0; bit < bits; bit += 1) reversed |= ((value >> bit) & 1) << (bits - 1 - bit);
  return reversed;
}

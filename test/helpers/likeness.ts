const rate = 16_000;

/** Where each tenth of a second of `original` is in `recording`, and how like it is there. */
export interface Piece {
  likeness: number;
  delayMs: number;
}

/** Compares piece by piece: what plays may take its time here and there, and be right all the same. */
export function comparePieces(
  original: Buffer,
  recording: Buffer,
  { aroundMs = 0, withinMs = 4_000 } = {},
): Piece[] {
  const [wanted, heard] = [samples(original), samples(recording)];
  const size = rate / 10;
  const pieces: Piece[] = [];
  let expected = aroundMs * 16;
  let reach = withinMs * 16;
  for (let at = 0; at + size <= wanted.length; at += size) {
    const piece = wanted.subarray(at, at + size);
    const best = find(piece, heard, { from: at + expected - reach, to: at + expected + reach });
    pieces.push({ likeness: best.likeness, delayMs: (best.at - at) / 16 });
    if (best.likeness < 0.9) continue;
    // The next one is close to where this one was.
    expected = best.at - at;
    reach = 300 * 16;
  }
  return pieces;
}

function find(piece: Float64Array, heard: Float64Array, { from, to }: { from: number; to: number }) {
  let best = { at: 0, likeness: 0 };
  const coarse = (at: number, step: number) => {
    let [product, energy, own] = [0, 0, 0];
    for (let i = 0; i < piece.length; i += step) {
      const sample = heard[at + i] ?? 0;
      product += piece[i]! * sample;
      energy += sample * sample;
      own += piece[i]! * piece[i]!;
    }
    return energy === 0 ? 0 : product / Math.sqrt(energy * own);
  };
  const last = Math.min(to, heard.length - piece.length);
  for (let at = Math.max(0, from); at <= last; at += 8) {
    const likeness = coarse(at, 8);
    if (likeness > best.likeness) best = { at, likeness };
  }
  const around = best.at;
  best = { at: around, likeness: 0 };
  for (let at = Math.max(0, around - 12); at <= around + 12; at += 1) {
    const likeness = coarse(at, 1);
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best;
}

/** The longest silence between the first sound and the last, in steps of 5 ms. */
export function longestSilenceMs(recording: Buffer): number {
  const heard = samples(recording);
  const step = rate / 200;
  let longest = 0;
  let since: number | undefined;
  for (let at = 0; at + step <= heard.length; at += step) {
    if (heard.subarray(at, at + step).every((sample) => Math.abs(sample) < 40)) continue;
    if (since !== undefined) longest = Math.max(longest, (at - since) / 16);
    since = at + step;
  }
  return longest;
}

/** Whether there was sound, and has been none for a second. */
export function isOver(recording: Buffer): boolean {
  return isLoud(recording) && !isLoud(recording.subarray(-32_000));
}

function isLoud(pcm: Buffer): boolean {
  for (let at = 0; at + 2 <= pcm.length; at += 2) if (Math.abs(pcm.readInt16LE(at)) >= 40) return true;
  return false;
}

function samples(pcm: Buffer): Float64Array {
  return Float64Array.from({ length: Math.floor(pcm.length / 2) }, (_, i) => pcm.readInt16LE(i * 2));
}

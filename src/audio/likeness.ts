import { bands, measureSpectrogram, type Spectrogram } from './transform.ts';
import { type Pcm, pcmBytes } from './whole-pcm.ts';

/** How much of the expected audio may be missing at either end. */
const missingShare = 0.25;

/**
 * The likeness of a sound and the most similar place in audio, both 16 kHz s16le mono: 1 is identical; other speech reaches
 * about 0.5 or less. Compares how loud each frequency band is over time. Level, noise, resampling, and a missing start or end
 * change little. Throws `usage` for anything but PCM.
 */
export function measureLikeness(audio: Pcm, expected: Pcm): number {
  const sound = measureSpectrogram(pcmBytes(expected));
  const whole = measureSpectrogram(pcmBytes(audio));
  if (sound.length === 0 || whole.length === 0) return 0;
  const spare = Math.ceil(sound.length * missingShare);
  const place = pad(whole, spare, Math.max(spare, sound.length + spare - whole.length));
  const centred = centre(sound);
  const sums = sumUp(place);
  let best = 0;
  for (let row = 0; row + sound.length <= place.length; row += 1)
    best = Math.max(best, correlate(centred, place, sums, row));
  return best;
}

function pad({ rows, length }: Spectrogram, before: number, after: number): Spectrogram {
  const padded = new Float32Array((before + length + after) * bands);
  padded.set(rows, before * bands);
  return { rows: padded, length: before + length + after };
}

interface Centred extends Spectrogram {
  /** The sum of the squares. */
  energy: number;
}

/** Subtracts the mean of each band, so that the frequency response of a microphone does not count. */
function centre({ rows, length }: Spectrogram): Centred {
  const means = new Float64Array(bands);
  for (const [at, level] of rows.entries()) means[at % bands] = (means[at % bands] ?? 0) + level / length;
  const centred = rows.map((level, at) => level - (means[at % bands] ?? 0));
  return { rows: centred, length, energy: centred.reduce((sum, level) => sum + level * level, 0) };
}

/** Running sums of each band, and of all squares, up to each row. */
interface Sums {
  levels: Float64Array;
  squares: Float64Array;
}

function sumUp({ rows, length }: Spectrogram): Sums {
  const levels = new Float64Array((length + 1) * bands);
  const squares = new Float64Array(length + 1);
  for (let row = 0; row < length; row += 1) {
    let square = squares[row] as number;
    for (let at = row * bands; at < (row + 1) * bands; at += 1) {
      const level = rows[at] as number;
      levels[at + bands] = (levels[at] as number) + level;
      square += level * level;
    }
    squares[row + 1] = square;
  }
  return { levels, squares };
}

/** The correlation of a sound with the place that begins at this row. */
function correlate(sound: Centred, place: Spectrogram, { levels, squares }: Sums, row: number): number {
  const { rows, length, energy } = sound;
  let product = 0;
  const from = row * bands;
  for (let at = 0; at < rows.length; at += 1)
    product += (rows[at] as number) * (place.rows[from + at] as number);
  let there = (squares[row + length] as number) - (squares[row] as number);
  for (let at = from; at < from + bands; at += 1)
    there -= ((levels[at + length * bands] as number) - (levels[at] as number)) ** 2 / length;
  return there <= 0 || energy <= 0 ? 0 : product / Math.sqrt(energy * there);
}

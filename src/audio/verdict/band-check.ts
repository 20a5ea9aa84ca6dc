import { sampleRate } from '../../protocol/audio-format.ts';
import { createFft } from '../transform.ts';

const size = 512;
const binHz = sampleRate / size;
/** The width of the bands in the summary. A band this far below the loudest is empty. */
const bandHz = 250;
const bandBins = bandHz / binHz;
const bands = sampleRate / 2 / bandHz;
const emptyDb = 50;
/** `whole`: 300 to 3,400 Hz; its upper end; and what a telephone does not pass. As indexes of the spectrum. */
const whole = [10, 109] as const;
const edge = [83, 109] as const;
const above = [141, 218] as const;
/**
 * Bounds of the mean level above, relative to the edge (density) and to the whole. In 570 wide-band recordings the lowest are
 * −34 and −50 dB; in 155 telephone recordings the highest are −39 and −51 dB.
 */
const cliffDb = -37;
const shareDb = -48;
/** No voice has so little above the telephone band. */
const nothingDb = -60;
/** A second of speech, with one frame per 40 ms. */
const fewestFrames = 20;

const fft = createFft(size);

/** Measures the bandwidth of speech. */
export class BandCheck {
  private frames = 0;
  private readonly powers = new Float64Array(bands);
  private readonly sums = new Float64Array(3);

  /** Takes 512 samples of speech, beginning at this place. */
  push(samples: Int16Array, from: number): void {
    fft.load((at) => samples[from + at] as number);
    this.frames += 1;
    for (let band = 0; band < bands; band += 1)
      this.powers[band] =
        (this.powers[band] as number) + fft.power(Math.max(1, band * bandBins), (band + 1) * bandBins);
    this.add(0, whole);
    this.add(1, edge);
    this.add(2, above);
  }

  clear(): void {
    this.frames = 0;
    this.powers.fill(0);
    this.sums.fill(0);
  }

  /** The highest frequency with sound, in Hz; undefined if it is not known. */
  read(): number | undefined {
    if (this.frames < fewestFrames) return undefined;
    const loudest = this.powers.reduce((most, power) => Math.max(most, power), 0);
    const highest = this.powers.findLastIndex((power) => power > loudest * 10 ** (-emptyDb / 10));
    return (highest + 1) * bandHz;
  }

  get isNarrow(): boolean {
    if (this.frames < fewestFrames) return false;
    const [all, upper, missing] = this.sums as unknown as [number, number, number];
    const share = toDb(missing, all) + widthDb;
    return share < nothingDb || (share < shareDb && toDb(missing, upper) < cliffDb);
  }

  private add(index: number, [from, to]: readonly [number, number]): void {
    this.sums[index] = (this.sums[index] as number) + fft.power(from, to);
  }
}

/** Corrects means for the different widths of `above` and `whole`. */
const widthDb = 10 * Math.log10((above[1] - above[0]) / (whole[1] - whole[0]));
/** Samples in one frame. */
export const bandSamples = size;

function toDb(power: number, against: number): number {
  return 10 * Math.log10((power + 1e-9) / (against + 1e-9));
}

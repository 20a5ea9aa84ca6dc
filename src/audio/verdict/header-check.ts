/** Headers are searched for counters in this many 16-bit words at the beginning of each message: RTP has six. */
const words = 6;
/** This place is after any header: what is here is audio. */
const audioAt = 64;
/** A counter rises by the same amount in so many messages in a row while the audio changes freely. */
const enough = 20;
/**
 * Messages of a tone may be almost the same, so that each sample rises slowly. Then its change varies only by rounding: by
 * less than this, and this many times the smallest step of the audio.
 */
const leastChange = 16;
const steps = 4;
/** After so many messages with such audio and without a header the search ends: it costs as much as all other checks of a format. */
const mostMessages = 500;
/** What changes by half of the range each time only goes back and forth. */
const halfRange = 0x8000;

/**
 * Finds a header in front of each message: a 16-bit field, in either byte order, that rises by a constant (a sequence
 * number, a timestamp, or the lower half of a wider field).
 */
export class HeaderCheck {
  private isFound = false;
  private left = mostMessages;
  private audio = 0;
  private change = 0;
  /** All bits that were seen in the audio. */
  private bits = 0;
  /** For each word, as little-endian and then as big-endian: its value, by how much it rose last, and how often. */
  private readonly values = new Uint16Array(2 * words);
  private readonly rises = new Uint16Array(2 * words);
  private readonly runs = new Uint8Array(2 * words);

  /** Takes a message; returns whether it is the one that shows that there is a header. */
  push(message: Buffer): boolean {
    if (this.isFound || this.left === 0 || message.length < audioAt + 2) return false;
    const audio = littleEndian(message, audioAt);
    const change = ((audio - this.audio) << 16) >> 16;
    const acceleration = Math.abs(((change - this.change) << 16) >> 16);
    this.audio = audio;
    this.change = change;
    this.bits |= audio;
    const isFree = acceleration > leastChange + steps * (this.bits & -this.bits);
    if (isFree) this.left -= 1;
    for (let word = 0; word < words; word += 1) {
      const value = littleEndian(message, 2 * word);
      const swapped = ((value & 0xff) << 8) | (value >> 8);
      if (this.count(word, value, isFree) || this.count(words + word, swapped, isFree)) {
        this.isFound = true;
        return true;
      }
    }
    return false;
  }

  private count(index: number, value: number, isFree: boolean): boolean {
    const step = (value - (this.values[index] as number)) & 0xffff;
    this.values[index] = value;
    if (step === 0 || step === halfRange || step !== this.rises[index]) {
      this.rises[index] = step;
      this.runs[index] = 0;
      return false;
    }
    if (!isFree) return false;
    const run = (this.runs[index] as number) + 1;
    this.runs[index] = run;
    return run >= enough;
  }
}

function littleEndian(message: Buffer, at: number): number {
  return (message[at] as number) | ((message[at + 1] as number) << 8);
}

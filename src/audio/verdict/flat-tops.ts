/** Fewer flat tops are chance: none of 880 recordings without clipping has more than two. */
const fewest = 6;
/** Quieter samples are flat because of rounding. */
const leastHeight = 200;

/** Counts waves that are cut off at the same height, at full scale or below. */
export class FlatTops {
  /** Where the first one of the current height is. */
  firstAt = 0;
  /** Where the last one is. */
  lastAt = 0;
  private readonly sides = [new Side(), new Side()] as const;

  /** Takes the highest and the lowest of some samples. */
  peak(highest: number, lowest: number): void {
    this.sides[0].reach(highest);
    this.sides[1].reach(-lowest);
  }

  /** Takes three or more neighbouring samples of one value, with smaller ones on both sides. */
  top(value: number, at: number): void {
    const side = this.sides[value > 0 ? 0 : 1];
    const height = Math.abs(value);
    if (height < leastHeight) return;
    if (this.sides[0].count + this.sides[1].count === 0 || height > side.height) this.firstAt = at;
    this.lastAt = at;
    side.add(height);
  }

  clear(): void {
    for (const side of this.sides) side.clear();
  }

  /** The number of flat tops at the greatest height, if they are clipping; else 0. */
  read(): number {
    const [above, below] = this.sides;
    const count = above.atPeak + below.atPeak;
    // Audio with few levels is flat at every height.
    return count >= fewest && count > 2 * (above.others + below.others) ? count : 0;
  }
}

/** The waves of one sign. */
class Side {
  height = 0;
  count = 0;
  others = 0;
  private highest = 0;

  reach(height: number): void {
    if (height > this.highest) this.highest = height;
  }

  add(height: number): void {
    if (height === this.height) this.count += 1;
    else if (height > this.height) {
      this.others += this.count;
      this.height = height;
      this.count = 1;
    } else if (height > this.height / 2) this.others += 1;
  }

  clear(): void {
    this.height = 0;
    this.count = 0;
    this.others = 0;
    this.highest = 0;
  }

  get atPeak(): number {
    return this.height >= this.highest ? this.count : 0;
  }
}

import { bytesForMs, bytesPerSample } from '../../protocol/audio-format.ts';

/** The search runs at an eighth of the sample rate: speech is loudest below 1 kHz. */
const every = 8;
const perMs = bytesForMs(1) / bytesPerSample / every;
/** A second of the service's audio is compared with what the user said up to 600 ms before. */
const windowSamples = 1_000 * perMs;
const mostLag = 600 * perMs;
const kept = 2 * (windowSamples + mostLag);
/** A longer pause between messages is one; others are the network's. */
const pauseMs = 100;
/** More than chance; weaker than this, −40 dB, is not heard. In two windows in a row the delay is the same. */
const leastLikeness = 0.6;
const leastGain = 0.01;
const sameMs = 5;
/** Quieter speech of the user, −55 dBov, is not compared. */
const leastLevel = 58;

/** What came back of the user's words. */
export interface UserEchoFound {
  delayMs: number;
  /** In decibels: how much louder it is than it was said. */
  gainDb: number;
}

/** Notices that the words of the user come back in the service's audio while they are spoken. */
export class EchoCheck {
  private readonly user = new Track();
  private readonly service = new Track();
  private nextAt = 0;
  private lastLag = Number.NEGATIVE_INFINITY;

  /** Takes what the user says. */
  said(pcm: Buffer, nowMs: number): void {
    this.user.add(pcm, nowMs);
  }

  /** Takes what the service sends; returns an echo that is certain. */
  heard(pcm: Buffer, nowMs: number): UserEchoFound | undefined {
    this.service.add(pcm, nowMs);
    if (this.service.end < this.nextAt + windowSamples) return undefined;
    this.nextAt = this.service.end;
    return this.compare(this.service.end - windowSamples);
  }

  /** The service drops what was not heard yet: what comes next is heard from now on. */
  interrupted(nowMs: number): void {
    this.service.cut(Math.max(0, Math.round(nowMs * perMs)));
    this.nextAt = Math.min(this.nextAt, this.service.end);
  }

  /** Compares the window of the service that begins here. */
  private compare(from: number): UserEchoFound | undefined {
    const { user, service } = this;
    if (
      service.level(from, windowSamples) === 0 ||
      user.level(from - mostLag / 2, windowSamples) < leastLevel
    )
      return this.differ();
    service.copy(from, heardWindow);
    user.copy(from - mostLag, saidWindow);
    const { best, lagOfBest } = findLag();
    const gain = (best * service.level(from, windowSamples)) / user.level(from - lagOfBest, windowSamples);
    if (best < leastLikeness || gain < leastGain) return this.differ();
    const isSame = Math.abs(lagOfBest - this.lastLag) <= sameMs * perMs;
    this.lastLag = lagOfBest;
    if (!isSame) return undefined;
    return { delayMs: Math.round(lagOfBest / perMs), gainDb: 20 * Math.log10(gain) };
  }

  private differ(): undefined {
    this.lastLag = Number.NEGATIVE_INFINITY;
    return undefined;
  }
}

// Shared by all checks: each use fills them anew.
const heardWindow = new Float32Array(windowSamples);
const saidWindow = new Float32Array(windowSamples + mostLag);

/** How many samples before the words were said that are most like what is heard, and how like they are: 1 is the same. */
function findLag(): { best: number; lagOfBest: number } {
  let own = 1;
  for (let at = 0; at < windowSamples; at += 1) own += (heardWindow[at] as number) ** 2;
  let others = 1;
  for (let at = mostLag; at < mostLag + windowSamples; at += 1) others += (saidWindow[at] as number) ** 2;
  let best = 0;
  let lagOfBest = 0;
  for (let lag = 0; lag < mostLag; lag += 1) {
    const start = mostLag - lag;
    let product = 0;
    for (let at = 0; at < windowSamples; at += 1)
      product += (heardWindow[at] as number) * (saidWindow[start + at] as number);
    const likeness = product / Math.sqrt(own * Math.max(1, others));
    if (likeness > best) [best, lagOfBest] = [likeness, lag];
    others += (saidWindow[start - 1] as number) ** 2 - (saidWindow[start + windowSamples - 1] as number) ** 2;
  }
  return { best, lagOfBest };
}

/** The newest audio of one side, at its place in time: index 0 is the time 0. Differences, which hum hardly has. */
class Track {
  /** Where the audio ends, in samples. */
  end = 0;
  private readonly samples = new Float32Array(kept);
  private sum = 0;
  private count = 0;
  private before = 0;

  add(pcm: Buffer, nowMs: number): void {
    const startAt = Math.round(nowMs * perMs) - Math.round((pcm.length / bytesForMs(1)) * perMs);
    if (startAt > this.end + pauseMs * perMs) this.skip(startAt);
    for (let at = 0; at + 1 < pcm.length; at += bytesPerSample) {
      this.sum += pcm.readInt16LE(at);
      this.count += 1;
      if (this.count < every) continue;
      this.put(this.sum / every - this.before);
      this.before = this.sum / every;
      this.sum = 0;
      this.count = 0;
    }
  }

  /** Takes back what lies beyond this place; what was forgotten for it is silence. */
  cut(to: number): void {
    for (let place = to; place < Math.min(this.end, to + kept); place += 1) this.samples[place % kept] = 0;
    this.end = Math.min(this.end, to);
  }

  /** RMS of so many samples. */
  level(from: number, count: number): number {
    let squares = 0;
    for (let at = from; at < from + count; at += 1) squares += this.at(at) ** 2;
    return Math.sqrt(squares / count);
  }

  /** Copies samples from this place on. */
  copy(from: number, into: Float32Array): void {
    for (let index = 0; index < into.length; index += 1) into[index] = this.at(from + index);
  }

  private at(place: number): number {
    return place < this.end && place >= this.end - kept && place >= 0
      ? (this.samples[place % kept] as number)
      : 0;
  }

  private put(value: number): void {
    this.samples[this.end % kept] = value;
    this.end += 1;
  }

  private skip(to: number): void {
    const from = Math.max(this.end, to - kept);
    this.end = from;
    while (this.end < to) this.put(0);
  }
}

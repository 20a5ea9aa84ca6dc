import { bytesForMs, bytesPerSample, msForBytes } from '../protocol/audio-format.ts';
import { measureLevel } from './level.ts';
import { sampleAt } from './sample-at.ts';
import { createCorrelation } from './transform.ts';

/** The search runs at an eighth of the sample rate: speech is loudest below 1 kHz. */
const every = 8;
const perMs = bytesForMs(1) / bytesPerSample / every;
/** A second of the service's audio is compared with what the user said up to 600 ms before. */
const windowSamples = 1_000 * perMs;
const mostLagMs = 600;
const mostLag = mostLagMs * perMs;
const kept = 2 * (windowSamples + mostLag);
/** A longer time between messages is a pause; a shorter one is caused by the network. */
const pauseMs = 100;
/** More than chance. A weaker echo, below −40 dB, cannot be heard. Two windows in a row must show the same delay. */
const leastLikeness = 0.6;
const leastGain = 0.01;
const sameMs = 5;
/** A window with this likeness consists only of the user's words. */
const pureLikeness = 0.9;
/** Speech of the user below this, −55 dBov, is not compared. */
const leastLevel = 58;

/** How many messages of the user are recognised if they come back unchanged: half a minute of frames. And how much of each. */
const remembered = 1_500;
const comparedBytes = 64;
/** Quieter messages may be identical by chance. */
const tellingDbfs = -50;
/** With this much audio of its own a service does not just return the user's: a second, or this share of what it returns. */
const ownMs = 1_000;
const ownShare = 0.05;
/** An echo is changed if less than this of a window comes back unchanged. */
const changedMs = 200;

/** An echo of the user's words. */
export interface UserEchoFound {
  delayMs: number;
  /** How much louder it is than the original, in decibels. */
  gainDb: number;
}

/** `echo`: the service sends what it hears at once. `repeat`: it sends it later, unchanged. */
export type EchoKind = 'echo' | 'repeat';

/** Why there is no voice of the service to judge. */
export const echoKindText: Readonly<Record<EchoKind, string>> = {
  echo: 'the service echoes what it hears',
  repeat: 'the service repeats what it hears',
};

/**
 * The one judge of whether a service returns the user's words: as all of its audio (`is`), or as an echo in audio of its own
 * (`heard`). State: about 70 kB; 20 kB without `compares`.
 */
export class UserEchoDetector {
  private readonly tracks: Tracks | undefined;
  private readonly messages = new SaidMessages();
  /** Whether a message came back that ends within a sample. */
  hasOddBack = false;
  /** Whether the next message of a side begins within a sample. */
  private isUserWithin = false;
  private isServiceWithin = false;
  private nextAt = 0;
  private lastLag = Number.NEGATIVE_INFINITY;
  /** How much of the service's audio is audible, and how much of that came back, in milliseconds. */
  private audibleMs = 0;
  private echoedMs = 0;
  private repeatedMs = 0;
  /** The same since the last window, and for a window that may be the first of an echo. */
  private windowMs = 0;
  private windowBackMs = 0;
  private doubtfulMs = 0;
  /** Whether the user's words came back changed, such as softer, with the delay of an echo. */
  private hasChangedEcho = false;

  /** Without `compares` only messages that come back unchanged are noticed, which costs next to nothing. */
  constructor({ compares = true }: { compares?: boolean } = {}) {
    if (compares) this.tracks = { user: new Track(), service: new Track() };
  }

  /** Takes audio of the user. */
  said(pcm: Buffer, nowMs: number): void {
    this.tracks?.user.add(pcm, nowMs);
    if (isTelling(pcm) || isOdd(pcm)) this.messages.add(pcm, { nowMs, isWithin: this.isUserWithin });
    if (isOdd(pcm)) this.isUserWithin = !this.isUserWithin;
  }

  /** Takes audio of the service. Returns an echo if it is certain. */
  heard(pcm: Buffer, nowMs: number): UserEchoFound | undefined {
    const isAudible = isTelling(pcm);
    const ageMs =
      isAudible || isOdd(pcm)
        ? this.messages.ageOf(pcm, { nowMs, isWithin: this.isServiceWithin })
        : undefined;
    if (isAudible) this.count(msForBytes(pcm.length), ageMs);
    if (isOdd(pcm)) {
      this.isServiceWithin = !this.isServiceWithin;
      this.hasOddBack ||= ageMs !== undefined;
    }
    if (this.tracks === undefined) return undefined;
    const { service } = this.tracks;
    service.add(pcm, nowMs);
    if (service.end < this.nextAt + windowSamples) return undefined;
    this.nextAt = service.end;
    const found = this.compare(this.tracks, service.end - windowSamples);
    this.windowMs = 0;
    this.windowBackMs = 0;
    return found;
  }

  /** The service drops audio that has not been heard yet: what comes next is heard from now on. */
  interrupted(nowMs: number): void {
    if (this.tracks === undefined) return;
    const { service } = this.tracks;
    service.cut(Math.max(0, Math.round(nowMs * perMs)));
    this.nextAt = Math.min(this.nextAt, service.end);
  }

  /** How the service's audio comes from the user, if all of it does; undefined if it is its own. */
  get is(): EchoKind | undefined {
    const backMs = this.echoedMs + this.repeatedMs;
    const own = this.audibleMs - backMs;
    if (own >= backMs || own >= Math.max(ownMs, ownShare * backMs)) return undefined;
    return this.echoedMs >= this.repeatedMs && !this.hasEchoBesideRepeat ? 'echo' : 'repeat';
  }

  /** Whether a service that repeats what it hears also has an echo: the user hears the words twice. */
  get hasEchoBesideRepeat(): boolean {
    return this.hasChangedEcho && this.repeatedMs >= ownMs;
  }

  private count(ms: number, ageMs: number | undefined): void {
    this.audibleMs += ms;
    this.windowMs += ms;
    if (ageMs === undefined) return;
    this.windowBackMs += ms;
    if (ageMs <= mostLagMs) this.echoedMs += ms;
    else this.repeatedMs += ms;
  }

  /** Compares the window of the service that begins here. */
  private compare({ user, service }: Tracks, from: number): UserEchoFound | undefined {
    if (service.level(from) === 0 || user.level(from - mostLag / 2) < leastLevel) return this.differ();
    service.copy(from, heardWindow);
    user.copy(from - mostLag, saidWindow);
    const { best, lagOfBest } = findLag();
    const gain = (best * service.level(from)) / user.level(from - lagOfBest);
    if (best < leastLikeness || gain < leastGain) return this.differ();
    const isSame = Math.abs(lagOfBest - this.lastLag) <= sameMs * perMs;
    this.lastLag = lagOfBest;
    const leftMs = best < pureLikeness ? 0 : this.windowMs - this.windowBackMs;
    if (isSame) this.echoedMs += this.doubtfulMs + leftMs;
    this.doubtfulMs = isSame ? 0 : leftMs;
    if (!isSame) return undefined;
    this.hasChangedEcho ||= this.windowBackMs < changedMs;
    return { delayMs: Math.round(lagOfBest / perMs), gainDb: 20 * Math.log10(gain) };
  }

  private differ(): undefined {
    this.lastLag = Number.NEGATIVE_INFINITY;
    this.doubtfulMs = 0;
    return undefined;
  }
}

interface Tracks {
  user: Track;
  service: Track;
}

function isOdd(pcm: Buffer): boolean {
  return pcm.length % bytesPerSample !== 0;
}

function isTelling(pcm: Buffer): boolean {
  return measureLevel(pcm).rmsDbfs >= tellingDbfs;
}

interface Moment {
  nowMs: number;
  /** Whether the message begins within a sample. */
  isWithin: boolean;
}

/** The user's latest messages, to recognise one that comes back. */
class SaidMessages {
  private readonly hashes = new Int32Array(remembered);
  private readonly times = new Float64Array(remembered).fill(Number.NEGATIVE_INFINITY);
  private next = 0;

  add(pcm: Buffer, { nowMs, isWithin }: Moment): void {
    this.hashes[this.next] = hashOf(pcm, isWithin);
    this.times[this.next] = nowMs;
    this.next = (this.next + 1) % remembered;
  }

  /** How long ago this message was last sent; undefined if it was not. */
  ageOf(pcm: Buffer, { nowMs, isWithin }: Moment): number | undefined {
    const hash = hashOf(pcm, isWithin);
    const newest = this.next === 0 ? -1 : this.hashes.lastIndexOf(hash, this.next - 1);
    const at = newest >= 0 ? newest : this.hashes.lastIndexOf(hash);
    const saidMs = at < 0 ? Number.NEGATIVE_INFINITY : (this.times[at] as number);
    return saidMs === Number.NEGATIVE_INFINITY ? undefined : nowMs - saidMs;
  }
}

/** FNV-1a of the beginning: bytes of other samples are other audio. */
function hashOf(pcm: Buffer, isWithin: boolean): number {
  let hash = isWithin ? 0x811c9dc4 : 0x811c9dc5;
  const end = Math.min(pcm.length, comparedBytes);
  for (let at = 0; at < end; at += 1) hash = Math.imul(hash ^ (pcm[at] as number), 0x01000193);
  return hash | 0;
}

// Shared by all detectors: each use overwrites them.
const heardWindow = new Float32Array(windowSamples);
const saidWindow = new Float32Array(windowSamples + mostLag);
let correlation: ReturnType<typeof createCorrelation> | undefined;

/** How many samples ago the most similar words were said, and their likeness: 1 is identical. */
function findLag(): { best: number; lagOfBest: number } {
  let own = 1;
  for (let at = 0; at < windowSamples; at += 1) own += (heardWindow[at] as number) ** 2;
  let others = 1;
  for (let at = mostLag; at < mostLag + windowSamples; at += 1) others += (saidWindow[at] as number) ** 2;
  correlation ??= createCorrelation(heardWindow.length, saidWindow.length);
  const products = correlation.products(heardWindow, saidWindow);
  let best = 0;
  let lagOfBest = 0;
  for (let lag = 0; lag < mostLag; lag += 1) {
    const start = mostLag - lag;
    const likeness = (products[start] as number) / Math.sqrt(own * Math.max(1, others));
    if (likeness > best) [best, lagOfBest] = [likeness, lag];
    others += (saidWindow[start - 1] as number) ** 2 - (saidWindow[start + windowSamples - 1] as number) ** 2;
  }
  return { best, lagOfBest };
}

/** The newest audio of one side on the time axis: place 0 is time 0. As differences, which contain little hum. */
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
      this.sum += sampleAt(pcm, at);
      this.count += 1;
      if (this.count < every) continue;
      this.put(this.sum / every - this.before);
      this.before = this.sum / every;
      this.sum = 0;
      this.count = 0;
    }
  }

  /** Removes what lies beyond this place. */
  cut(to: number): void {
    for (let place = to; place < Math.min(this.end, to + kept); place += 1) this.samples[place % kept] = 0;
    this.end = Math.min(this.end, to);
  }

  /** The RMS of the window that begins at this place. */
  level(from: number): number {
    let squares = 0;
    for (let at = from; at < from + windowSamples; at += 1) squares += this.at(at) ** 2;
    return Math.sqrt(squares / windowSamples);
  }

  /** Copies samples, beginning at this place. */
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

import type { ScriptedClip } from '../../src/audio/dialogue/dialogue.ts';
import { createRandom } from '../../src/service/random.ts';
import type { Speaker } from './voices-of-tools.ts';

const rate = 16_000;
const samplesOf = (ms: number) => Math.round((ms * rate) / 1000);

/** What must be found in a conversation. Times are milliseconds; −1 stands for none. */
export interface TrueTurn {
  turn: number;
  responseMs: number | null;
  earlyMs: number | null;
  yieldMs: number | null;
  interruption: 'yielded' | 'ended' | 'never-yields' | null;
  reply: 'answered' | 'lost';
}

export interface TrueNoise {
  turn: number;
  isStop: boolean;
  isAnswered: boolean;
  resumedAfterMs: number | null;
}

export interface SeededConversation {
  /** Both tracks, 16 kHz s16le mono, of one length. */
  user: Buffer;
  ai: Buffer;
  clips: ScriptedClip[];
  /** When the service said that it was interrupted. */
  stops: number[];
  turns: TrueTurn[];
  noises: TrueNoise[];
  overlapMs: number;
}

type Kind =
  | 'plain'
  | 'early'
  | 'lost'
  | 'barge-in'
  | 'never-yields'
  | 'cough'
  | 'false-interruption'
  | 'answers-noise';

const kinds: readonly Kind[] = [
  ...(['plain', 'plain', 'early', 'lost', 'barge-in', 'barge-in', 'never-yields'] as const),
  ...(['cough', 'false-interruption', 'answers-noise'] as const),
];

/** A conversation of two speakers whose every moment is known: it is read off the clean tracks. */
export function seededConversation(seed: number, speakers: readonly Speaker[]): SeededConversation {
  const random = createRandom(seed).sequence('conversation');
  const between = (low: number, high: number) => low + random() * (high - low);
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  const [you, other] = [pick(speakers), pick(speakers)];
  const parts = { user: createPart(), ai: createPart() };
  const clips: ScriptedClip[] = [];
  const stops: number[] = [];
  const turns: TrueTurn[] = [];
  const noises: TrueNoise[] = [];
  const sendsStops = random() < 0.5;
  let nowMs = between(200, 900);

  /** The user says one or two clips from `atMs` on. */
  const say = (atMs: number, isTurn: boolean): Placed => {
    const turn = clips.length + 1;
    const first = isTurn ? pick(you.clips) : cough(random);
    const parted =
      isTurn && random() < 0.4 ? [first, silence(between(500, 2_000)), pick(you.clips)] : [first];
    const placed = parts.user.put(atMs, Buffer.concat(parted));
    clips.push({ turn, isTurn, startMs: atMs, endMs: placed.clipEndMs });
    return placed;
  };
  const longReply = (atMs: number) =>
    parts.ai.put(atMs, Buffer.concat([...other.clips, ...other.clips].slice(0, 6)));

  for (let exchange = 0; exchange < 4; exchange += 1) {
    const kind = pick(kinds);
    const turn = clips.length + 1;
    const said = say(nowMs, true);
    const truth: TrueTurn = {
      turn,
      responseMs: null,
      earlyMs: null,
      yieldMs: null,
      interruption: null,
      reply: 'answered',
    };
    turns.push(truth);
    if (kind === 'lost') {
      say(said.endMs + between(150, 600), false);
      noises.push({ turn: turn + 1, isStop: false, isAnswered: false, resumedAfterMs: null });
      truth.reply = 'lost';
      nowMs = said.endMs + between(5_000, 6_500);
      continue;
    }
    const lastsMs = said.endMs - said.startMs;
    const dueMs =
      kind === 'early' ? said.endMs - between(120, lastsMs * 0.7) : said.endMs + between(150, 1_600);
    const isLong = kind !== 'plain' && kind !== 'early' && kind !== 'answers-noise';
    const reply = isLong ? longReply(dueMs) : parts.ai.put(dueMs, pick(other.clips));
    const responseMs = reply.startMs - said.endMs;
    if (responseMs < -50) truth.earlyMs = -responseMs;
    else truth.responseMs = responseMs;
    nowMs = Math.max(reply.endMs, said.clipEndMs) + between(1_200, 2_500);

    if (kind === 'barge-in' || kind === 'never-yields') {
      const startMs = parts.ai.voicedAt(reply.startMs + between(500, 1_200));
      const second: TrueTurn = { ...truth, turn: turn + 1, responseMs: null, earlyMs: null };
      turns.push(second);
      const interrupting = say(startMs, true);
      const stopMs = parts.ai.voicedAt(interrupting.startMs + between(80, 900));
      if (kind === 'barge-in') {
        const heardMs = parts.ai.cut(stopMs);
        if (sendsStops) stops.push(heardMs + between(0, 30));
        second.interruption = 'yielded';
        second.yieldMs = heardMs - interrupting.startMs;
        const answer = parts.ai.put(interrupting.endMs + between(1_050, 1_700), pick(other.clips));
        second.responseMs = answer.startMs - interrupting.endMs;
        nowMs = Math.max(answer.endMs, parts.user.endMs) + between(1_200, 2_500);
      } else {
        second.interruption = 'never-yields';
        // It answers nevertheless, after what it had to say.
        const answer = parts.ai.put(
          Math.max(reply.endMs, interrupting.endMs) + between(1_100, 1_500),
          pick(other.clips),
        );
        second.responseMs = answer.startMs - interrupting.endMs;
        nowMs = Math.max(answer.endMs, parts.user.endMs) + between(1_200, 2_500);
      }
    }
    if (kind === 'cough' || kind === 'false-interruption') {
      const startMs = parts.ai.voicedAt(reply.startMs + between(700, 1_500));
      const noise = say(startMs, false);
      const found: TrueNoise = { turn: turn + 1, isStop: false, isAnswered: false, resumedAfterMs: null };
      noises.push(found);
      if (kind === 'false-interruption') {
        const heardMs = parts.ai.cut(parts.ai.voicedAt(noise.startMs + between(100, 600)));
        if (sendsStops) stops.push(heardMs + between(0, 30));
        found.isStop = true;
        nowMs = heardMs + between(5_000, 6_000);
        if (random() < 0.5) {
          const resumed = parts.ai.put(heardMs + between(500, 3_500), pick(other.clips));
          found.resumedAfterMs = resumed.startMs - heardMs;
          nowMs = Math.max(resumed.endMs, parts.user.endMs) + between(1_200, 2_500);
        }
      }
    }
    if (kind === 'answers-noise') {
      const noise = say(reply.endMs + between(600, 1_500), false);
      const answer = parts.ai.put(noise.endMs + between(700, 1_800), pick(other.clips));
      noises.push({ turn: turn + 1, isStop: false, isAnswered: true, resumedAfterMs: null });
      nowMs = Math.max(answer.endMs, parts.user.endMs) + between(1_200, 2_500);
    }
  }
  const samples = samplesOf(nowMs + 500);
  const [user, ai] = [parts.user.track(samples), parts.ai.track(samples)];
  return { user, ai, clips, stops, turns, noises, overlapMs: overlapOf(parts.user, parts.ai, clips) };
}

interface Placed {
  /** Its first and last audible moment. */
  startMs: number;
  endMs: number;
  clipEndMs: number;
}

/** One side of a conversation, with the level of each of its milliseconds. */
function createPart() {
  const samples = new Int16Array(samplesOf(240_000));
  let endMs = 0;
  const isAudible = (ms: number) => {
    let power = 0;
    for (let at = samplesOf(ms - 2); at < samplesOf(ms + 3); at += 1) power += (samples[at] ?? 0) ** 2;
    return 10 * Math.log10(Math.max(1e-9, power / 80) / 0x8000 ** 2) > -60;
  };
  const audibleIn = (fromMs: number, toMs: number) => {
    const found: number[] = [];
    for (let ms = Math.floor(fromMs); ms < toMs; ms += 1) if (isAudible(ms)) found.push(ms);
    return found;
  };
  return {
    isAudible,
    audibleIn,
    get endMs() {
      return endMs;
    },
    put(atMs: number, pcm: Buffer): Placed {
      const from = samplesOf(Math.floor(atMs));
      for (let at = 0; at < pcm.length / 2; at += 1) samples[from + at] = pcm.readInt16LE(at * 2);
      const clipEndMs = Math.floor(atMs) + pcm.length / 32;
      endMs = Math.max(endMs, clipEndMs);
      const audible = audibleIn(atMs, clipEndMs);
      return { startMs: audible[0] ?? 0, endMs: (audible.at(-1) ?? 0) + 1, clipEndMs };
    },
    /** The first moment from here on with 30 ms of clear sound before it. */
    voicedAt(fromMs: number): number {
      for (let ms = Math.floor(fromMs); ms < endMs; ms += 1) {
        let power = 0;
        for (let at = samplesOf(ms - 30); at < samplesOf(ms); at += 1) power += (samples[at] ?? 0) ** 2;
        if (10 * Math.log10(Math.max(1e-9, power / 480) / 0x8000 ** 2) > -24) return ms;
      }
      return fromMs;
    },
    /** Silences everything from here on. Returns the last audible moment before. */
    cut(atMs: number): number {
      samples.fill(0, samplesOf(atMs));
      endMs = atMs;
      return (audibleIn(atMs - 100, atMs).at(-1) ?? atMs) + 1;
    },
    track: (length: number) => Buffer.from(samples.slice(0, length).buffer),
  };
}

/** All time in which the AI speaks in a clip of the user, pauses of the clip and short ones of the AI included. */
function overlapOf(
  user: ReturnType<typeof createPart>,
  ai: ReturnType<typeof createPart>,
  clips: readonly ScriptedClip[],
): number {
  const speaks = new Set<number>();
  const audible = ai.audibleIn(0, ai.endMs);
  for (const [index, ms] of audible.entries()) {
    const next = audible[index + 1] ?? ms + 1;
    for (let at = ms; at < (next - ms - 1 < 350 ? next : ms + 1); at += 1) speaks.add(at);
  }
  let overlapMs = 0;
  for (const { startMs, endMs } of clips) {
    const own = user.audibleIn(startMs, endMs);
    for (let ms = own[0] ?? 0; ms <= (own.at(-1) ?? -1); ms += 1) if (speaks.has(ms)) overlapMs += 1;
  }
  return overlapMs;
}

function silence(ms: number): Buffer {
  return Buffer.alloc(samplesOf(ms) * 2);
}

/** A burst of breath: noise that swells fast and dies away. */
function cough(random: () => number): Buffer {
  const samples = samplesOf(180 + 220 * random());
  const pcm = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) {
    const place = at / samples;
    const envelope = Math.min(1, place * 12) * (1 - place) ** 1.5;
    pcm.writeInt16LE(Math.round(9_000 * envelope * (2 * random() - 1)), at * 2);
  }
  return pcm;
}

/** Adds noise, this far below the level of the audible part: white, or with 3 dB less for each octave. */
export function withNoise(
  pcm: Buffer,
  snrDb: number,
  { seed, isPink }: { seed: number; isPink: boolean },
): Buffer {
  const random = createRandom(seed).sequence('noise');
  const squares: number[] = [];
  for (let at = 0; at < pcm.length; at += 2)
    if (Math.abs(pcm.readInt16LE(at)) > 60) squares.push(pcm.readInt16LE(at) ** 2);
  const rms =
    Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / Math.max(1, squares.length)) / 10 ** (snrDb / 20);
  const source = fastNoise(Math.floor(random() * 2 ** 31));
  const noise = Float64Array.from({ length: pcm.length / 2 }, isPink ? pinkOf(source) : source);
  const scale = rms / Math.sqrt(noise.reduce((sum, one) => sum + one * one, 0) / noise.length);
  const noisy = Buffer.alloc(pcm.length);
  for (const [index, one] of noise.entries()) {
    const value = Math.round(pcm.readInt16LE(index * 2) + scale * one);
    noisy.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, value)), index * 2);
  }
  return noisy;
}

/** Numbers from −1 to 1 (mulberry32). */
function fastNoise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

/** Three first-order filters, whose sum falls by about 3 dB for each octave. */
function pinkOf(white: () => number): () => number {
  let [low, middle, high] = [0, 0, 0];
  return () => {
    const one = white();
    low = 0.997 * low + 0.03 * one;
    middle = 0.96 * middle + 0.11 * one;
    high = 0.57 * high + 0.4 * one;
    return low + middle + high + 0.18 * one;
  };
}

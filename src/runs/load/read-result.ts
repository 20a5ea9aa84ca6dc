import { inflateSync } from 'node:zlib';
import { decodeFromCompressedBase64, Int32Histogram } from 'hdr-histogram-js';
import * as z from 'zod';
import { loadTaskNames } from '../../config/load-tasks.ts';
import { loadMetricNames } from '../../config/threshold.ts';
import { VoicectlError } from '../../kernel/errors.ts';
import { failureKinds } from '../../kernel/failure-kind.ts';
import { isRecord } from '../../protocol/error-body.ts';
import { checkShape } from '../check-shape.ts';
import { type EncodedTimes, figures, longestUs, maxTimeCount } from './histogram.ts';
import type { LoadResult } from './result.ts';
import type { SparseTimes } from './series.ts';
import { noCounts } from './tick.ts';

const mostShards = 99_999;
const mostGenerators = 10_000;
/** More than there are values with two significant figures up to the longest time. */
const mostPairs = 1_000;
/** The last moment that a `Date` can represent. */
const lastMs = 8.64e15;

const count = z.int().nonnegative();
const number = z.number().nonnegative();
const text = (most: number) => z.string().max(most);

/** A list whose length is checked before its entries: each wrong entry would be a problem of its own. */
const listOf = <Entry extends z.ZodType>(entry: Entry, most: number) =>
  z
    .custom<unknown[]>((value) => Array.isArray(value) && value.length <= most, {
      error: `expected a list of at most ${most}`,
    })
    .pipe(z.array(entry));

/** An object with any of these names. Other names are left out. */
const someOf = <Name extends string, Value extends z.ZodType>(names: readonly Name[], value: Value) =>
  z.object(
    Object.fromEntries(names.map((name) => [name, value.optional()])) as Record<Name, z.ZodOptional<Value>>,
  );

const times = z
  .object({ count, minUs: count.nullable(), maxUs: count.nullable(), hdr: z.string() })
  .refine(isSound, { error: 'expected a histogram that load --out wrote', abort: true });

const isWhole = (value: unknown, most: number) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
const isPair = (value: unknown) =>
  Array.isArray(value) &&
  value.length === 2 &&
  isWhole(value[0], longestUs) &&
  isWhole(value[1], maxTimeCount);

/** Most of a result consists of these: a schema for each number would take seconds. */
const pairs = z.custom<SparseTimes>(
  (value) => Array.isArray(value) && value.length <= mostPairs && value.every(isPair),
  { error: `expected at most ${mostPairs} pairs, each a time in microseconds and a count` },
);

const { framesMissed: _, ...firstCounts } = noCounts;
/** Results of earlier versions lack `framesMissed`, `touched` and `longestPauseMs`. */
const counts = z.object({
  ...(Object.fromEntries(Object.keys(firstCounts).map((name) => [name, count])) as Record<
    keyof typeof firstCounts,
    typeof count
  >),
  framesMissed: count.default(0),
});

const resultSchema = z.object({
  type: z.literal('load-result'),
  format: z.literal(1),
  facts: z.object({
    version: text(100),
    target: text(2_000),
    task: z.enum(loadTaskNames),
    arrival: text(200),
    seed: z.number(),
    startAt: number.max(lastMs),
    cost: z.object({
      sessions: count,
      tokens: count,
      devices: count,
      audioMinutes: number,
      arrivalsMs: number,
      longestMs: number,
    }),
    clean: z.enum(['findings', 'strict']).optional(),
  }),
  shards: z
    .object({ has: listOf(z.int().min(1), mostShards), of: z.int().min(1).max(mostShards) })
    .refine(({ has, of }) => has.every((one) => one <= of), { error: 'expected shards up to `of`' }),
  counts,
  failures: someOf(Object.keys(failureKinds) as (keyof typeof failureKinds)[], count),
  metrics: someOf(loadMetricNames, z.object({ finished: times, unfinished: times })),
  lateness: times,
  touched: someOf(loadMetricNames, count).default({}),
  generators: listOf(
    z.object({
      name: z.string().regex(/^\d{1,5}\/\d{1,5}\.\d{1,5}$/, 'expected a name such as 1/2.1'),
      // A mean of shares may be rounded up.
      core: number.max(1.001).nullable(),
      longestPauseMs: number.nullable().default(null),
      lost: text(1_000).nullable(),
    }),
    mostGenerators,
  ),
  // Read one by one.
  series: z.custom<unknown[]>(Array.isArray, { error: 'expected a list' }),
  stopped: text(1_000).nullable(),
});

const secondSchema = z.object({
  second: count,
  // A session that this machine could not start is subtracted, maybe in the next second.
  counts: counts.extend({ arrived: z.int() }),
  open: count,
  times: someOf(loadMetricNames, pairs),
  late: pairs,
});

/** Reads a result, which somebody else may have written. Throws `bad-input` with the wrong field; `name`: of the file. */
export function readResult(content: string, name: string): LoadResult {
  const value = parse(content, name);
  const result = checkShape(resultSchema, value, (why) => notAResult(`${name}: ${why}`));
  const series = result.series.map((given, index) => {
    const at = `${name}: series.${index}`;
    const refuse = (why: string) =>
      notAResult(isRecord(given) ? `${at}.${why}` : `${at}: expected an object`);
    const second = checkShape(secondSchema, given, refuse);
    // Missing seconds would be filled in.
    if (second.second !== index) throw refuse(`second: ${second.second}, expected ${index}`);
    return second;
  });
  return { ...result, series } as LoadResult;
}

function parse(content: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(content);
    if (isRecord(value) && value.type === 'load-result' && value.format === 1) return value;
  } catch (cause) {
    throw notAResult(`${name} is not a result of voicectl load`, cause);
  }
  throw notAResult(`${name} is not a result of voicectl load`);
}

function notAResult(message: string, cause?: unknown): VoicectlError {
  return new VoicectlError('bad-input', message, {
    hint: '`voicectl load --out FILE` writes a result.',
    cause,
  });
}

/** The first bytes of a compressed histogram, and of an uncompressed one. */
const compressedCookie = 0x1c849314;
const plainCookie = 0x1c849313;
/** Far more than all classes need. */
const mostInflatedBytes = 512 * 1024;
const headBytes = 40;
/** A count of up to 31 bits and its sign, seven bits per byte. */
const mostCountBytes = 5;

/**
 * Whether a histogram is safe to read. The library trusts it: the header decides how much memory is allocated, and the length
 * and each run of empty classes how long the search takes.
 */
function isSound({ count, minUs, maxUs, hdr }: EncodedTimes): boolean {
  const plain = inflate(hdr);
  if (plain === undefined || countIn(plain) !== count) return false;
  if (minUs === null || maxUs === null) return count === 0 && minUs === maxUs;
  if (count === 0 || minUs > maxUs) return false;
  const histogram = decodeFromCompressedBase64(hdr, 32, false) as Int32Histogram;
  const isOfClass = (us: number, of: number) =>
    histogram.lowestEquivalentValue(us) === histogram.lowestEquivalentValue(of);
  return isOfClass(minUs, histogram.minNonZeroValue) && isOfClass(maxUs, histogram.maxValue);
}

function inflate(hdr: string): Buffer | undefined {
  if (hdr.length > mostInflatedBytes || hdr.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(hdr))
    return undefined;
  const bytes = Buffer.from(hdr, 'base64');
  if (bytes.length < 8 || bytes.readInt32BE(0) !== compressedCookie) return undefined;
  const length = bytes.readInt32BE(4);
  if (length < 0 || length > bytes.length - 8) return undefined;
  try {
    return inflateSync(bytes.subarray(8, 8 + length), { maxOutputLength: mostInflatedBytes });
  } catch {
    return undefined;
  }
}

/** The sum of all counts; undefined if it is not a histogram like ours. */
function countIn(plain: Buffer): number | undefined {
  const head = Buffer.alloc(headBytes);
  head.writeInt32BE(plainCookie, 0);
  head.writeInt32BE(plain.length - headBytes, 4);
  head.writeInt32BE(1, 8);
  head.writeInt32BE(figures, 12);
  head.writeBigInt64BE(1n, 16);
  head.writeBigInt64BE(BigInt(longestUs), 24);
  head.writeBigInt64BE(1n, 32);
  if (!plain.subarray(0, headBytes).equals(head)) return undefined;
  const classes = new Int32Histogram(1, longestUs, figures).countsArrayLength;
  let [index, total] = [0, 0];
  for (const word of words(plain.subarray(headBytes))) {
    // An odd word is a run of empty classes.
    const isRun = word % 2 === 1;
    index += isRun ? (word + 1) / 2 : 1;
    total += isRun ? 0 : word / 2;
    if (index > classes || total > maxTimeCount) return undefined;
  }
  return total;
}

/** Numbers with seven bits per byte, the lowest first. One that is too long or incomplete becomes larger than any valid one. */
function* words(bytes: Buffer): Generator<number> {
  for (let at = 0; at < bytes.length; ) {
    let word = 0;
    for (let place = 0; ; place += 1) {
      const byte = bytes[at];
      at += 1;
      if (byte === undefined || place === mostCountBytes) return yield Number.MAX_SAFE_INTEGER;
      word += (byte & 0x7f) * 2 ** (7 * place);
      if (byte < 0x80) break;
    }
    yield word;
  }
}

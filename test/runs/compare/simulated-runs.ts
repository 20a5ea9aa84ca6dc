import { runOfLoad } from '../../../src/runs/compare/load-run.ts';
import type { ComparedRun, RunSet } from '../../../src/runs/compare/run-set.ts';
import { createTimes } from '../../../src/runs/load/histogram.ts';
import type { LoadResult } from '../../../src/runs/load/result.ts';
import { noCounts } from '../../../src/runs/load/tick.ts';

/** Numbers from 0 up to 1: mulberry32, because millions are drawn. */
export function createDraws(seed: number) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  let spare: number | undefined;
  const normal = () => {
    const kept = spare;
    spare = undefined;
    if (kept !== undefined) return kept;
    const [radius, angle] = [Math.sqrt(-2 * Math.log(1 - uniform())), 2 * Math.PI * uniform()];
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  /** Student's t with four degrees of freedom: now and then a run is far from the others. */
  const heavy = () => {
    const squares = [normal(), normal(), normal(), normal()].reduce((sum, one) => sum + one * one, 0);
    return normal() / Math.sqrt(squares / 4);
  };
  return { uniform, normal, heavy };
}

export type Draws = ReturnType<typeof createDraws>;

/** A service, and the machine that measures it. */
export interface SimulatedService {
  /** Milliseconds of one session. */
  time(draws: Draws): number;
  /** What a run differs by from others, as a logarithm. */
  between(draws: Draws): number;
  /** The share of sessions that fail. */
  failing: number;
}

export interface SimulatedShift {
  /** Times of first audio longer than this are longer by `factor`. */
  fromMs: number;
  factor: number;
}

const metrics = ['token', 'connect', 'confirmed', 'first-audio', 'jitter', 'gap'] as const;

/** One run of `load`, as its result has it. */
export function simulateRun(
  service: SimulatedService,
  draws: Draws,
  { sessions, shift }: { sessions: number; shift?: SimulatedShift | undefined },
): RunSet {
  const encoded = metrics.map((metric) => {
    const finished = createTimes();
    const factor = Math.exp(service.between(draws));
    for (let session = 0; session < sessions; session += 1) {
      const ms = service.time(draws) * factor;
      const isShifted = shift !== undefined && metric === 'first-audio' && ms > shift.fromMs;
      finished.add(Math.max(1, Math.round(ms * (isShifted ? shift.factor : 1) * 1000)));
    }
    return [metric, { finished: finished.encode(), unfinished: createTimes().encode() }] as const;
  });
  const failed = Array.from({ length: sessions }, () => draws.uniform() < service.failing).filter(
    Boolean,
  ).length;
  return runOfLoad(loadResult({ metrics: Object.fromEntries(encoded), sessions, failed }), 'run');
}

/** A valid result of `load`. */
export function loadResult({
  metrics = {},
  sessions,
  failed = 0,
}: {
  metrics?: LoadResult['metrics'];
  sessions: number;
  failed?: number;
}): LoadResult {
  return {
    type: 'load-result',
    format: 1,
    facts: {
      ...{
        version: '1',
        target: 'http://127.0.0.1:1',
        task: 'talk',
        arrival: 'constant:10/s',
        seed: 1,
        startAt: 0,
      },
      cost: { sessions, tokens: sessions, devices: 1, audioMinutes: 1, arrivalsMs: 1_000, longestMs: 11_000 },
    },
    shards: { has: [1], of: 1 },
    counts: { ...noCounts, arrived: sessions, confirmed: sessions - failed, done: sessions - failed, failed },
    failures: {},
    metrics,
    lateness: createTimes().encode(),
    touched: {},
    generators: [{ name: '1/1.1', core: 0.1, longestPauseMs: 0, lost: null }],
    series: [],
    stopped: null,
  };
}

/** Several results as one baseline. */
export function baselineOf(sets: readonly RunSet[]): RunSet {
  const [first] = sets;
  if (first === undefined) throw new Error('a baseline has a run');
  return { ...first, name: 'baseline', runs: sets.flatMap(({ runs }) => runs) as unknown as [ComparedRun] };
}

import { estimate } from '../load/estimate.ts';
import { createTimes, figures as figureCount } from '../load/histogram.ts';
import type { LoadResult } from '../load/result.ts';
import { whyEnded, whyIncomplete, whyInvalid } from '../load/validity.ts';
import { failedShare, timeFigures } from './figure.ts';
import type { RunSet } from './run-set.ts';

/** The run in a result of `load`. A missing shard makes it not valid. */
export function runOfLoad(result: LoadResult, name: string): RunSet {
  const { facts, shards, counts, metrics } = result;
  const { task, arrival, cost, startAt, target, clean } = facts;
  const { sessions, audioMinutes, longestMs, arrivalsMs } = cost;
  const figures = Object.entries(metrics).flatMap(([metric, encoded]) => {
    const times = { finished: createTimes(encoded.finished), unfinished: createTimes(encoded.unfinished) };
    const { finished, unfinished } = times;
    return timeFigures(
      metric,
      { count: finished.count, nth: (rank) => finished.nth(rank) / 1000 },
      {
        resolutionMs: 0.001,
        resolutionShare: 10 ** -figureCount,
        count: finished.count + unfinished.count,
        at: (percent) => estimate(times, `p${percent}`) ?? { ms: 0, isLowerBound: true },
      },
    );
  });
  return {
    kind: 'load',
    name,
    subject: target,
    plan: [
      ['task', task],
      ['arrival', arrival],
      ['sessions', sessions],
      // With a ramp-up the same arrival takes longer. Poisson arrivals depend on the seed.
      ...(arrival.startsWith('poisson:') ? [] : ([['last arrival in ms', Math.round(arrivalsMs)]] as const)),
      ...(clean === undefined ? [] : ([['judged voices', clean]] as const)),
      // In a storm these depend on the seed of the arrivals.
      ...(task === 'storm'
        ? []
        : ([
            ['audio in minutes', audioMinutes],
            ['longest session in ms', Math.round(longestMs - arrivalsMs)],
          ] as const)),
    ],
    runs: [
      {
        at: startAt,
        invalid: [...whyInvalid(result), ...whyIncomplete(shards), ...whyEnded(result)],
        figures: [
          ...figures,
          ...failedShare(counts.failed + counts.dropped, counts.arrived + counts.dropped),
        ],
        items: [],
      },
    ],
  };
}

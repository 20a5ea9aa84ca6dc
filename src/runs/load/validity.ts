import { type LoadMetric, loadMetricNames } from '../../config/threshold.ts';
import { countText, percentText } from '../../protocol/count-text.ts';
import { createTimes } from './histogram.ts';
import type { LoadResult } from './result.ts';

/** If the p99 of send lateness is higher, a run says more about this machine than about the service. */
export const maxLateMs = 20;
/** If a generator uses more of its core, it is the bottleneck. */
export const maxCoreShare = 0.92;
/** A generator that stands still for this long measures itself. */
const shortestStandstillMs = 300;
/** This machine may have affected at most this share of the frames, and of the times of a metric. */
const mostTouched = 0.01;

type Judged = Pick<LoadResult, 'counts' | 'lateness' | 'generators' | 'metrics' | 'touched'>;

/** Why a run is not valid; empty if it is. */
export function whyInvalid({ counts, lateness, generators, metrics, touched }: Judged): string[] {
  const lateMs = createTimes(lateness).at(99) / 1000;
  const { framesMissed, framesOut, framesHeld, dropped } = counts;
  const frames = framesMissed + framesOut + framesHeld;
  return [
    ...(lateMs > maxLateMs
      ? [`frames were sent and sessions started ${lateMs.toFixed(1)} ms late (p99; at most ${maxLateMs} ms)`]
      : []),
    ...generators.flatMap(({ name, core, longestPauseMs, lost }) => [
      ...(core !== null && core > maxCoreShare
        ? [`generator ${name} used ${percentText(core)} of its core (at most ${percentText(maxCoreShare)})`]
        : []),
      ...(longestPauseMs !== null && longestPauseMs >= shortestStandstillMs
        ? [
            `generator ${name} stalled for ${longestPauseMs} ms (must be less than ${shortestStandstillMs} ms)`,
          ]
        : []),
      ...(lost === null ? [] : [`generator ${name} was lost: ${lost}`]),
    ]),
    ...(framesMissed > mostTouched * frames
      ? [`${framesMissed} of ${frames} frames were not sent, because this machine stalled (at most 1 %)`]
      : []),
    ...loadMetricNames.flatMap((metric) => touchedText(metric, { metrics, touched })),
    ...(dropped > 0 ? [`this machine dropped ${countText(dropped, 'arrival')}`] : []),
  ];
}

function touchedText(
  metric: LoadMetric,
  { metrics, touched }: Pick<Judged, 'metrics' | 'touched'>,
): string[] {
  const { finished, unfinished } = metrics[metric] ?? {};
  const all = (finished?.count ?? 0) + (unfinished?.count ?? 0);
  const count = touched[metric] ?? 0;
  return count > mostTouched * all
    ? [`${count} of ${all} ${metric} times include a pause of this machine (at most 1 %)`]
    : [];
}

/** Maximum number of missing shards that are listed. */
const mostNamed = 20;

/** Why the result of some shards is not the result of the whole run; empty if all are there. */
export function whyIncomplete({ has, of }: LoadResult['shards']): string[] {
  const missing = Array.from({ length: of }, (_, index) => index + 1).filter((shard) => !has.includes(shard));
  if (missing.length === 0) return [];
  const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : '';
  const [word, verb] = missing.length === 1 ? ['shard', 'is'] : ['shards', 'are'];
  return [`${word} ${missing.slice(0, mostNamed).join(', ')}${more} of ${of} ${verb} missing`];
}

/** Why a run is not the one that was planned, if it was stopped. */
export function whyEnded({ stopped }: Pick<LoadResult, 'stopped'>): string[] {
  return stopped === null ? [] : [`it ended early: ${stopped}`];
}

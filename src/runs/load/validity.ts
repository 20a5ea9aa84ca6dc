import { createTimes } from './histogram.ts';
import type { LoadResult } from './result.ts';

/** Send lateness, p99, beyond which a run says more about the machine that measures than about the service. */
export const mostLateMs = 20;
/** Share of a core beyond which a generator is the limit. */
export const mostCore = 0.92;

/** Why a run is not valid; empty if it is. */
export function whyInvalid({
  counts,
  lateness,
  generators,
}: Pick<LoadResult, 'counts' | 'lateness' | 'generators'>): string[] {
  const lateMs = createTimes(lateness).at(99) / 1000;
  return [
    ...(lateMs > mostLateMs
      ? [`frames and sessions left ${lateMs.toFixed(1)} ms late (p99; at most ${mostLateMs} ms)`]
      : []),
    ...generators.flatMap(({ name, core, lost }) => [
      ...(core !== null && core > mostCore
        ? [`generator ${name} used ${Math.round(core * 100)} % of its core (at most ${mostCore * 100} %)`]
        : []),
      ...(lost === null ? [] : [`generator ${name} was lost: ${lost}`]),
    ]),
    ...(counts.dropped > 0 ? [`${counts.dropped} arrivals were dropped by this machine`] : []),
  ];
}

/** Why the merged result of some shards is not that of the whole run; empty if all are there. */
export function whyIncomplete({ has, of }: LoadResult['shards']): string[] {
  const missing = Array.from({ length: of }, (_, index) => index + 1).filter((shard) => !has.includes(shard));
  return missing.length === 0 ? [] : [`shard ${missing.join(', ')} of ${of} is missing`];
}

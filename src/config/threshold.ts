import { lacksUnit, readDuration } from '../protocol/read-duration.ts';
import type { Parse } from './parse.ts';

/** The times that a load run measures, and when the clock of each starts and stops. */
export const loadMetrics = {
  token: 'from the planned arrival of the session to the token',
  connect: 'from the moment when the connection was due to the open WebSocket',
  confirmed: 'from the moment when the token was due on the stream to the confirmation',
  'first-audio': 'from the moment when the last frame of speech was due to the first AI audio',
  jitter:
    'how much the time between two AI messages differs from the audio in the first: the worst of a reply',
  gap: 'the longest time between two AI messages of a reply',
  stops: 'from the first frame of a barge-in to the last AI audio of the interrupted reply',
  back: 'from the cut of all streams to the next confirmation of the session',
} as const;

export type LoadMetric = keyof typeof loadMetrics;

/** All metrics, in the order of reports. */
export const loadMetricNames = Object.keys(loadMetrics) as LoadMetric[];

export type TimeStatistic = 'min' | 'mean' | 'max' | `p${number}`;

/** A limit on a statistic of a metric, in milliseconds; or on failed sessions, as a share from 0 to 1 or a number. */
export type Threshold = { text: string; isInclusive: boolean; limit: number } & (
  | { metric: LoadMetric; statistic: TimeStatistic }
  | { metric: 'failed'; statistic: 'share' | 'count' }
);

const form = /^([a-z-]+)(?::([a-z]+[\d.]*))?\s*(<=?)\s*(\S+)$/;

/** `first-audio:p95<800ms`, `connect:max<2s`, `failed<1%` or `failed<5`. */
export const parseThreshold: Parse<Threshold> = (text) => {
  const [, metric = '', statistic, sign, limit = ''] = form.exec(text.trim()) ?? [];
  const common = { text: text.trim(), isInclusive: sign === '<=' };
  if (metric === 'failed' && statistic === undefined) return { ...common, ...readFailed(limit) };
  const known = loadMetricNames.find((name) => name === metric);
  if (known === undefined || statistic === undefined || !isStatistic(statistic)) {
    throw new Error(
      `expected METRIC:STATISTIC<LIMIT, such as first-audio:p95<800ms, or failed<1%, with METRIC one of ${loadMetricNames.join(', ')} and STATISTIC one of pN, min, mean, max`,
    );
  }
  const ms = lacksUnit(limit) ? undefined : readDuration(limit);
  if (ms === undefined) throw new Error('expected a limit with its unit, such as 800ms or 2s');
  return { ...common, metric: known, statistic, limit: ms };
};

function isStatistic(text: string): text is TimeStatistic {
  if (['min', 'mean', 'max'].includes(text)) return true;
  const [, percent] = /^p(\d{1,2}(?:\.\d{1,3})?|100)$/.exec(text) ?? [];
  return percent !== undefined && Number(percent) > 0;
}

function readFailed(limit: string): Pick<Threshold & { metric: 'failed' }, 'metric' | 'statistic' | 'limit'> {
  const [, digits, percent] = /^(\d{1,9}(?:\.\d{1,6})?)(%?)$/.exec(limit) ?? [];
  if (digits === undefined) throw new Error('expected failed<N% or failed<N');
  const value = Number(digits);
  return percent === '%'
    ? { metric: 'failed', statistic: 'share', limit: value / 100 }
    : { metric: 'failed', statistic: 'count', limit: value };
}

import { lacksUnit, readDuration } from '../protocol/read-duration.ts';
import type { Parse } from './parse.ts';

/** The times that a load run measures, and when the clock of each starts and stops. */
const loadMetrics = {
  token: 'from the planned arrival of the session to the token',
  connect: 'from the moment when the connection was due to the open WebSocket',
  confirmed: 'from the moment when the token was due on the stream to the confirmation',
  'first-audio': 'from the moment when the last frame of speech was due to the first AI audio',
  response:
    'from the moment when the last frame of speech was due until AI audio is heard that is not silent',
  jitter:
    'how much the time between two AI messages differs from the audio in the first: the worst case of each reply',
  gap: 'the longest time between two AI messages of a reply',
  stops: 'from the first frame of a barge-in to the last AI audio of the interrupted reply',
  yield: 'from the first word of a barge-in until the interrupted reply is no longer heard',
  'talk-over': 'how long AI audio is heard while the user speaks, in each turn',
  back: 'from the cut of all streams to the next confirmation of the session',
} as const;

export type LoadMetric = keyof typeof loadMetrics;

/** All metrics, in the order of reports. */
export const loadMetricNames = Object.keys(loadMetrics) as LoadMetric[];

export type TimeStatistic = 'min' | 'mean' | 'max' | `p${number}`;

/** How a session can end badly: `unclean` is detected only with `--expect-clean`. */
const outcomes = ['failed', 'unclean'] as const;
type Outcome = (typeof outcomes)[number];

/** A limit on a statistic of a metric, in milliseconds, or on sessions, as a share from 0 to 1 or a number. */
export type Threshold = { text: string; isInclusive: boolean; limit: number } & (
  | { metric: LoadMetric; statistic: TimeStatistic }
  | { metric: 'failed'; statistic: 'share' | 'count' }
  | { metric: 'unclean'; statistic: 'share' | 'count' }
);

const form = /^([a-z-]+)(?::([a-z]+[\d.]*))?\s*(<=?)\s*(\S+)$/;

/** `first-audio:p95<800ms`, `connect:max<2s`, `failed<1%`, `failed<5` or `unclean<1%`. */
export const parseThreshold: Parse<Threshold> = (text) => {
  const [, metric = '', statistic, sign, limit = ''] = form.exec(text.trim()) ?? [];
  const common = { text: text.trim(), isInclusive: sign === '<=' };
  const outcome = outcomes.find((name) => name === metric);
  if (outcome !== undefined && statistic === undefined)
    return { ...common, metric: outcome, ...readShare(outcome, limit) };
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

function readShare(outcome: Outcome, limit: string): { statistic: 'share' | 'count'; limit: number } {
  const [, digits, percent] = /^(\d{1,9}(?:\.\d{1,6})?)(%?)$/.exec(limit) ?? [];
  if (digits === undefined) throw new Error(`expected ${outcome}<N% or ${outcome}<N`);
  const value = Number(digits);
  return percent === '%' ? { statistic: 'share', limit: value / 100 } : { statistic: 'count', limit: value };
}

const comparedStatistics = ['p50', 'p95', 'p99'];

/** How much worse a figure may get: as a share of its old value or in milliseconds; for `failed`, as a share of all sessions. */
export interface Tolerance {
  text: string;
  /** `first-audio:p95` or `failed`. */
  figure: string;
  limit: number;
  unit: 'share' | 'ms';
  isInclusive: boolean;
}

/** `first-audio:p95<10%`, `token:p50<=20ms`, `failed<1%`. */
export const parseTolerance: Parse<Tolerance> = (text) => {
  const [, metric = '', statistic, sign, limit = ''] = form.exec(text.trim()) ?? [];
  const isTime =
    loadMetricNames.some((name) => name === metric) && comparedStatistics.includes(statistic ?? '');
  const isFailed = metric === 'failed' && statistic === undefined;
  const [, percent] = /^(\d{1,5}(?:\.\d{1,3})?)%$/.exec(limit) ?? [];
  const ms = lacksUnit(limit) ? undefined : readDuration(limit);
  const common = { text: text.trim(), isInclusive: sign === '<=' };
  const figure = isFailed ? metric : `${metric}:${statistic}`;
  if ((isTime || isFailed) && percent !== undefined)
    return { ...common, figure, limit: Number(percent) / 100, unit: 'share' };
  if (isTime && ms !== undefined) return { ...common, figure, limit: ms, unit: 'ms' };
  throw new Error(
    `expected METRIC:STATISTIC<N% or <DURATION, such as first-audio:p95<10%, or failed<N%, with METRIC one of ${loadMetricNames.join(', ')} and STATISTIC one of ${comparedStatistics.join(', ')}`,
  );
};

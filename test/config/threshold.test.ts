import { describe, expect, test } from 'vitest';
import { parseThreshold, parseTolerance } from '../../src/config/threshold.ts';

test.each([
  ['first-audio:p95<800ms', { metric: 'first-audio', statistic: 'p95', limit: 800, isInclusive: false }],
  ['connect:p99.9 <= 2s', { metric: 'connect', statistic: 'p99.9', limit: 2000, isInclusive: true }],
  ['token:max<1m', { metric: 'token', statistic: 'max', limit: 60_000, isInclusive: false }],
  ['failed<1%', { metric: 'failed', statistic: 'share', limit: 0.01, isInclusive: false }],
  ['failed<=3', { metric: 'failed', statistic: 'count', limit: 3, isInclusive: true }],
])('%s is read', (text, expected) => {
  expect(parseThreshold(text)).toEqual({ text, ...expected });
});

test.each([
  ['first-audio<800ms', 'METRIC:STATISTIC<LIMIT'],
  ['latency:p95<1s', 'METRIC one of token, connect'],
  ['token:p0<1s', 'STATISTIC one of pN'],
  ['token:p101<1s', 'STATISTIC one of pN'],
  ['token:p95<800', 'a limit with its unit'],
  ['failed<lots', 'failed<N%'],
])('%s is refused', (text, why) => {
  expect(() => parseThreshold(text)).toThrow(why);
});

describe('a tolerance', () => {
  test.each([
    ['first-audio:p95<10%', { figure: 'first-audio:p95', limit: 0.1, unit: 'share', isInclusive: false }],
    [' token:p50<=20ms ', { figure: 'token:p50', limit: 20, unit: 'ms', isInclusive: true }],
    ['gap:p99<1.5s', { figure: 'gap:p99', limit: 1_500, unit: 'ms', isInclusive: false }],
    ['failed<1%', { figure: 'failed', limit: 0.01, unit: 'share', isInclusive: false }],
  ] as const)('%s is how much worse a figure may get', (text, tolerance) => {
    expect(parseTolerance(text)).toEqual({ text: text.trim(), ...tolerance });
  });

  test.each([
    'first-audio<10%',
    'first-audio:p90<10%',
    'first-audio:p95<10',
    'failed<5',
    'failed<20ms',
    'talk:p95<10%',
    'p95',
    '',
  ])('%j is refused, with what is expected', (text) => {
    expect(() => parseTolerance(text)).toThrow(/^expected METRIC:STATISTIC<N% or <DURATION/);
  });
});

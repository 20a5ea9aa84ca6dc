import { expect, test } from 'vitest';
import { arrivalText, parseArrival } from '../../src/config/arrival.ts';

test.each([
  ['constant:10/s', { kind: 'constant', perSecond: 10 }],
  ['poisson:0.5/s', { kind: 'poisson', perSecond: 0.5 }],
  ['ramp:0..50/s', { kind: 'ramp', from: 0, to: 50 }],
  ['burst:100', { kind: 'burst', size: 100, everyMs: 1_000 }],
  ['burst:100/30s', { kind: 'burst', size: 100, everyMs: 30_000 }],
])('%s is read', (text, arrival) => {
  expect(parseArrival(text)).toEqual(arrival);
  expect(parseArrival(arrivalText(parseArrival(text)))).toEqual(arrival);
});

test.each([
  'constant:0/s',
  'constant:10',
  'constant:-1/s',
  'ramp:0..0/s',
  'ramp:5/s',
  'burst:0',
  'burst:10/soon',
  'often',
  '',
])('%j is refused with the forms that are possible', (text) => {
  expect(() => parseArrival(text)).toThrow('expected constant:R/s');
});

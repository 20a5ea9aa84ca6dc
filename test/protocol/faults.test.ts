import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { describeCatalogue, faultSchema } from '../../src/protocol/fault-schema.ts';
import { aimFault, faultNames, strikesAt } from '../../src/protocol/faults.ts';
import { parseFault, readFault } from '../../src/protocol/read-fault.ts';

describe('a fault is read', () => {
  test.each([
    ['mute', { name: 'mute', probability: 1 }],
    ['token-slow', { name: 'token-slow', delay: 3_000, probability: 1 }],
    ['token-slow:delay=250ms', { name: 'token-slow', delay: 250, probability: 1 }],
    [
      'close:code=1012,after=2s,times=1,device=d1',
      { name: 'close', code: 1012, reason: '', after: 2_000, times: 1, device: 'd1', probability: 1 },
    ],
    [
      'network:profile=slow-3g,loss=2%,rate=1.5Mbit,upload=0',
      { name: 'network', profile: 'slow-3g', loss: 0.02, rate: 1_500_000, upload: 0, probability: 1 },
    ],
    ['rate-limited:device=007', { name: 'rate-limited', reset: 60_000, device: '007', probability: 1 }],
    [
      'token-error:code=429,message=7',
      { name: 'token-error', status: 500, code: '429', message: '7', probability: 1 },
    ],
    ['drop:stream=7', { name: 'drop', stream: 7, probability: 1 }],
    ['drop:probability=0.25', { name: 'drop', probability: 0.25 }],
    [
      'token-redirect:location=http://x/?a=b',
      { name: 'token-redirect', location: 'http://x/?a=b', probability: 1 },
    ],
  ])('from %s', (written, fault) => {
    expect(readFault(written)).toEqual(fault);
  });

  test.each([
    ['', 'expected a fault from the catalogue'],
    ['7', 'expected a fault from the catalogue'],
    ['unheard-of:delay=2', 'expected a fault from the catalogue'],
    ['=', 'expected a fault from the catalogue'],
    [':delay=2s', 'expected a fault from the catalogue'],
    ['close:=2', 'close: there is no setting ""'],
    ['close:code=1005', 'close: code: expected a close code that may be sent'],
    ['close:code=soon', 'close: code: expected number'],
    [`close:reason=${'é'.repeat(62)}`, 'close: reason: expected at most 123 bytes'],
    ['close:when=2s', 'close: there is no setting "when"'],
    ['token-slow:delay=250', 'token-slow: delay: expected a duration with its unit: 250s or 250ms?'],
    ['token-slow:dely=2s', 'token-slow: there is no setting "dely", did you mean delay?'],
    ['tokn-slow', 'expected a fault from the catalogue, did you mean token-slow?'],
    ['token-slow:delay=soon', 'token-slow: delay: expected a duration'],
    ['upgrade-hang:device=d1', 'upgrade-hang: there is no setting "device"'],
    ['network:rate=400', 'network: rate: expected a rate with its unit, such as 400kbit or 2Mbit'],
    ['network:loss=2', 'network: loss: expected a share from 0 up to 1, such as 0.02 or 2%'],
    ['network:latency=20', 'network: latency: expected a duration with its unit: 20s or 20ms?'],
    ['network:profile=slow3g', 'network: profile: expected one of none, edge, slow-3g'],
    ['mute:probability=0', 'mute: probability: expected number to be >0'],
    ['mute:times=0', 'mute: times: expected number to be >=1'],
  ])('but not from %s', (written, why) => {
    expect(() => readFault(written)).toThrow(why);
  });
});

test('the schema of any fault accepts each fault of the catalogue by its name alone', () => {
  for (const name of faultNames) expect(faultSchema.parse({ name })).toMatchObject({ name, probability: 1 });
  expect(faultSchema.safeParse({ name: 'nope' }).success).toBe(false);
});

test('the schema can be published, with a default for every parameter', () => {
  const { oneOf = [] } = z.toJSONSchema(faultSchema, { io: 'input' });
  expect(oneOf).toHaveLength(faultNames.length);
  for (const { name, parameters } of describeCatalogue()) {
    for (const { name: key, default: fallback, help } of parameters) {
      expect([name, key, help]).not.toContain('');
      expect(fallback, `${name}:${key}`).not.toBe(key === 'reason' ? 'x' : '');
    }
  }
});

test.each(['/переезд', '/a b', '/a\r\nSet-Cookie: b'])(
  'a redirect to %j is refused: no header can say it',
  (location) => {
    expect(() => parseFault({ name: 'token-redirect', location })).toThrow(/ASCII/);
  },
);

describe('a fault that is aimed at a stream', () => {
  test.each([
    ['close', { stream: 3 }],
    ['mute', { stream: 3 }],
    ['token-hang', { device: 'd1' }],
    ['auth-refused', { device: 'd1' }],
    ['upgrade-hang', {}],
    ['close:stream=9', { stream: 9 }],
    ['token-hang:device=d9', { device: 'd9' }],
    ['drop:device=d9', { device: 'd9' }],
    ['drop:device=d9,stream=9', { device: 'd9', stream: 9 }],
  ])('%s strikes %j', (written, aim) => {
    const fault = readFault(written);
    expect(aimFault(fault, { device: 'd1', stream: 3 })).toEqual({ ...fault, ...aim });
  });

  test('strikes at its own point', () => {
    expect(strikesAt(readFault('mute'), 'audio')).toBe(true);
    expect(strikesAt(readFault('mute'), 'live')).toBe(false);
  });
});

test('the catalogue describes a fault, its parameters and their defaults', () => {
  const described = Object.fromEntries(describeCatalogue().map(({ name, ...rest }) => [name, rest]));
  expect(described['token-slow']).toEqual({
    at: 'token',
    summary: 'the token is late',
    parameters: [{ name: 'delay', default: '3s', help: 'The delay' }],
  });
  expect(described.mute?.parameters).toEqual([]);
  expect(described.close?.parameters.map(({ name, default: fallback }) => [name, fallback])).toEqual([
    ['after', '0ms'],
    ['code', '1011'],
    ['reason', ''],
  ]);
  expect(described.network?.parameters.find(({ name }) => name === 'rate')?.default).toBe('from the profile');
});

test.each([null, 7, {}, { name: 7 }, { name: 'toString' }])('%j is not a fault', (input) => {
  expect(() => parseFault(input)).toThrow(/^expected a fault from the catalogue$/);
});

import { describe, expect, test } from 'vitest';
import { networkFault, networkProfiles, networkQuality, readRate } from '../../src/protocol/network.ts';
import { parseFault, readFault } from '../../src/protocol/read-fault.ts';

describe('a network', () => {
  test.each([
    ['slow-3g', networkProfiles['slow-3g']],
    ['slow-3g,loss=10%', { ...networkProfiles['slow-3g'], loss: 0.1 }],
    ['edge,rate=64kbit', { ...networkProfiles.edge, rate: 64_000, upload: 64_000 }],
    ['latency=100ms,jitter=20ms', { ...networkProfiles.none, latency: 100, jitter: 20 }],
    ['rate=1Mbit,upload=128kbit/s', { ...networkProfiles.none, rate: 1_000_000, upload: 128_000 }],
    ['network:profile=lte', networkProfiles.lte],
    ['offline', { ...networkProfiles.none, rate: 0, upload: 0 }],
  ])('is read from %s', (written, quality) => {
    const fault = readFault(networkFault(written));
    expect(fault.name === 'network' && networkQuality(fault)).toEqual(quality);
  });
});

describe('a rate', () => {
  test.each([
    ['400kbit', 400_000],
    ['1.5Mbit', 1_500_000],
    ['0.000064Gbit', 64_000],
    ['1.25mbit', 1_250_000],
    ['400kbits', undefined],
    ['1.kbit', undefined],
    ['400  kbit', undefined],
    ['2 Gbit/s', 2_000_000_000],
    ['64bit', 64],
    ['0', 0],
    ['400', undefined],
    ['400kB', undefined],
    ['kbit', undefined],
    ['-1kbit', undefined],
    ['1234567890bit', undefined],
    ['x400kbit', undefined],
    ['400kbit/h', undefined],
    ['', undefined],
  ])('%j is %j bits per second', (written, bits) => {
    expect(readRate(written)).toBe(bits);
  });
});

test.each([
  ['0.02', 0.02],
  ['2%', 0.02],
  ['0', 0],
  ['99.5%', 0.995],
  ['0.125', 0.125],
  ['0.25%', 0.0025],
])('a share of %s is %j', (written, loss) => {
  expect(readFault(`network:loss=${written}`)).toMatchObject({ loss });
});

test.each(['1', '100%', '-1%', 'x', '2 %', '2%%', '1000%'])('a share of %s is refused', (written) => {
  expect(() => readFault(`network:loss=${written}`)).toThrow('expected a share from 0 up to 1');
});

test.each([
  [{ loss: 0 }, true],
  [{ loss: 0.999 }, true],
  [{ loss: 1 }, false],
  [{ loss: -0.1 }, false],
  [{ rate: 64_000 }, true],
  [{ rate: -1 }, false],
  [{ upload: 0 }, true],
  [{ rate: '64' }, false],
])('a program may ask for %j: %s', (settings, isTaken) => {
  const reading = () => parseFault({ name: 'network', ...settings });
  if (isTaken) expect(reading()).toMatchObject(settings);
  else expect(reading).toThrow(/expected a (rate|share)/);
});

test.each([
  ['0.02', 0.02],
  ['2%', 0.02],
])('a program may write the share %s', (loss, share) => {
  expect(parseFault({ name: 'network', loss })).toMatchObject({ loss: share });
});

test('an unknown profile is reported with the one that was probably meant', () => {
  expect(() => readFault('network:profile=slow3g')).toThrow('did you mean slow-3g?');
  expect(() => readFault('network:profile=unheard-of')).toThrow(/offline$/);
});

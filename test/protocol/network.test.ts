import { describe, expect, test } from 'vitest';
import { networkFault, networkProfiles, networkQuality } from '../../src/protocol/network.ts';
import { readFault } from '../../src/protocol/read-fault.ts';

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

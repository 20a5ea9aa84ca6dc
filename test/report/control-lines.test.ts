import { expect, test } from 'vitest';
import type { EmulatorState } from '../../src/protocol/control.ts';
import { stateLines } from '../../src/report/control-lines.ts';

const evil = '\u001b]0;x\u0007';
const time = '2026-01-01T00:00:00.000Z';

const state: EmulatorState = {
  version: `1.2.3${evil}`,
  clock: { now: time, aheadMs: 61_000 },
  devices: [
    { device: `d1${evil}`, connections: 1, maxConnections: 10, requests: 2, limit: 60, resetAt: time },
  ],
  streams: [
    {
      stream: 1,
      device: `d1${evil}`,
      jti: null,
      remote: '127.0.0.1',
      claims: null,
      durationMs: 1_500,
      framesIn: 75,
      bytesIn: 48_000,
      framesOut: 0,
      bytesOut: 0,
      levels: { inDbfs: -20, outDbfs: -100 },
      pace: { timesRealTime: 1, meanJitterMs: 0, longestGapMs: 20, burstMessages: 0 },
      findings: [],
      remarks: [`stereo${evil}`],
    },
  ],
  tokens: [{ jti: `t1${evil}`, device: `d1${evil}`, expiresAt: time, used: true }],
  faults: [{ id: 1, name: `drop${evil}`, struck: 4, device: evil }],
};

test('the state of an emulator is shown without control characters', () => {
  const lines = stateLines(state).join('\n');
  expect(lines).not.toMatch(/\u001b|\u0007/);
  for (const text of ['1.2.3', 'd1', 'stereo', 't1', 'drop'])
    expect(lines).toContain(`${text}\\u001b]0;x\\u0007`);
  expect(lines).toContain('61 s ahead');
});

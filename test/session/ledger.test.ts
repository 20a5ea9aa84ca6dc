import { expect, test } from 'vitest';
import { createLedger } from '../../src/session/ledger.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

test('an expected close code is compared with the answer of the service, if it answers our close with another', () => {
  const ledger = createLedger(
    { clock: createManualClock(), settleMs: 1_500, waitMs: 1_000, device: 'device-1', expectations: {} },
    {
      emit: () => {},
      playback: () => ({ underruns: null, playbackDelayMs: null }),
      conversation: undefined,
    },
  );
  ledger.closed({ at: 0, by: 'device', code: 1000, reason: '', answer: { code: 4001, reason: '' } });
  expect(ledger.observed().closeCode).toBe(4001);
});

import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/kernel/redact.ts';
import { StreamWitness, type WitnessOptions } from '../../src/proxy/stream-witness.ts';
import type { WireMessage } from '../../src/wire/exchange.ts';
import { openedUpgrade } from '../helpers/exchanges.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

function witnessed() {
  const taken: WireMessage[] = [];
  const lane = { take: () => {}, otherSaid: () => {} };
  const witness = new StreamWitness({
    ...{ clock: createManualClock(), redactor: createRedactor(), upgrade: openedUpgrade() },
    ...{ budget: { usedBytes: 0 }, lanes: { device: lane, service: lane } },
    ...{
      tap: { message: (message: WireMessage) => taken.push(message) },
      onToken: () => {},
      onText: () => {},
    },
  } as unknown as WitnessOptions);
  return { witness, taken };
}

describe('audio that a fault invents', () => {
  test('for the service spoils the voice of the device, and is not what the device sent', () => {
    const { witness, taken } = witnessed();
    witness.delivered('device', Buffer.alloc(640), true, true);
    expect(witness.hasSpoiltVoice).toBe(true);
    expect(taken).toEqual([]);
    expect(witness.seenBy('service').messages).toMatchObject([{ from: 'device', injected: true }]);
    expect(witness.seenBy('device').messages).toEqual([]);
  });

  test('for the device is what it receives, and spoils nothing', () => {
    const { witness, taken } = witnessed();
    witness.delivered('service', Buffer.alloc(640), true, true);
    expect(witness.hasSpoiltVoice).toBe(false);
    expect(taken).toMatchObject([{ from: 'service', injected: true }]);
    expect(witness.seenBy('service').messages).toEqual([]);
  });
});

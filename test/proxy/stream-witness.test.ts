import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/kernel/redact.ts';
import { StreamWitness, type WitnessOptions } from '../../src/proxy/stream-witness.ts';
import type { WireMessage } from '../../src/wire/exchange.ts';
import { jwt } from '../helpers/device-exchanges.ts';
import { openedUpgrade } from '../helpers/exchanges.ts';
import { createManualClock } from '../helpers/manual-clock.ts';

function witnessed(budget = { usedBytes: 0 }) {
  const taken: WireMessage[] = [];
  const lane = { take: () => {}, otherSaid: () => {} };
  const witness = new StreamWitness({
    ...{ clock: createManualClock(), redactor: createRedactor(), upgrade: openedUpgrade() },
    ...{ budget, lanes: { device: lane, service: lane } },
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

test('a token that the device presents late, or that the service sends, is in no message', () => {
  const { witness, taken } = witnessed();
  const token = Buffer.from(jwt(1));
  witness.passed('device', Buffer.from('{"type":"hello"}'), false);
  witness.passed('device', token, false);
  witness.passed('service', Buffer.from(`{"resume":"${token}"}`), false);
  witness.delivered('service', token, false, false);
  expect(taken).toHaveLength(4);
  expect(JSON.stringify([taken, witness.seenBy('service'), witness.seenBy('device')])).not.toContain(
    String(token),
  );
});

describe('a stream that has ended', () => {
  const text = Buffer.from('{"type":"status"}');
  test.each<[views: string, act: (witness: StreamWitness) => void]>([
    ['has one view', () => {}],
    ['has two views, because of a fault', (witness) => witness.delivered('service', text, false, true)],
    [
      'has two views, because the proxy closed it',
      (witness) => witness.closed({ code: 1001, reason: '', by: 'service' } as never, true),
    ],
  ])('leaves the memory for evidence to others: one that %s', (_views, act) => {
    const budget = { usedBytes: 0 };
    const { witness } = witnessed(budget);
    for (let at = 0; at < 10; at += 1) witness.passed('service', text, false);
    act(witness);
    expect(budget.usedBytes).toBeGreaterThan(0);
    witness.release();
    expect(budget.usedBytes).toBe(0);
  });
});

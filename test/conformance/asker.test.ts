import { expect, test } from 'vitest';
import { createAsker, type RunContext } from '../../src/conformance/asker.ts';
import { createBudget } from '../../src/conformance/budget.ts';
import { createDevices } from '../../src/conformance/devices.ts';
import { createStopWatch } from '../../src/conformance/stop.ts';
import { VoicectlError } from '../../src/kernel/errors.ts';
import { createRedactor } from '../../src/kernel/redact.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { type MiniService, startMiniService } from '../helpers/mini-service.ts';

/** An asker whose turn always comes at once, and the moments until which it let time pass. */
function askerOf({ baseUrl, wsUrl }: MiniService, change: Partial<RunContext> = {}) {
  const clock = createManualClock();
  const passed: number[] = [];
  const context = {
    ...{ subject: { baseUrl, wsUrl, apiKey: 'check-key' }, signal: new AbortController().signal },
    ...{ clockwork: { clock, isMoved: false, pass: async (at: number) => void passed.push(at) } },
    ...{ budget: createBudget({ tokens: 5, plain: 0, connections: 0 }, {}), pace: { turn: async () => {} } },
    ...{ stop: createStopWatch({ isKeyMadeUp: false }), redactor: createRedactor() },
    ...change,
  } as RunContext;
  return { asker: createAsker(context, createDevices(['check-device'], true)), passed, clock };
}

test('a run that is stopped while a request waits for its turn does not send it', async () => {
  await using service = await startMiniService();
  const stop = createStopWatch({ isKeyMadeUp: false });
  const turn = async () => stop.end(new VoicectlError('interrupted', 'it was stopped'));
  const { asker } = askerOf(service, { stop, pace: { turn } });
  await expect(asker.token('E1')).rejects.toThrow('it was stopped');
  expect(service.arrived).toEqual([]);
});

test('tokens without an identifier are requested apart, unless the request is in a hurry', async () => {
  await using service = await startMiniService({ claims: ({ jti: _jti, ...claims }) => claims });
  const { asker, passed } = askerOf(service);
  await asker.token('E1');
  await asker.token('E2', { hurry: 10 });
  expect(passed).toEqual([]);
  await asker.token('E3');
  expect(passed).toEqual([1_100]);
});

test('only a stream that has sent nothing for a while gets a sign of life', async () => {
  await using service = await startMiniService();
  const { asker, clock } = askerOf(service, {
    budget: createBudget({ tokens: 1, plain: 0, connections: 1 }, {}),
  });
  await asker.token('S1');
  const line = await asker.open('S1');
  line.present(asker.tokenOf('S1'));
  await line.until(() => line.isConfirmed, 10_000);
  const sent = () => line.exchange().messages.filter((one) => one.from === 'device' && 'data' in one).length;
  line.sendAudio(Buffer.alloc(640, 1));
  clock.advance(20);
  expect([asker.keepAlive(), sent()]).toEqual([true, 1]);
  clock.advance(1_000);
  expect([asker.keepAlive(), sent()]).toEqual([true, 2]);
  await line.close();
  expect([asker.keepAlive(), sent()]).toEqual([false, 2]);
});

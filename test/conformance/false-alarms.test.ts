import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { bytesForMs } from '../../src/protocol/audio-format.ts';
import type { DialectInput } from '../../src/protocol/dialect.ts';
import { check, complaints, everything } from '../helpers/checks.ts';
import { speechPcm } from '../helpers/device-audio.ts';
import { setUpEmulators } from '../helpers/emulators.ts';
import { farDialects } from '../helpers/far-dialects.ts';
import { hasForeignService, startForeignService } from '../helpers/foreign-service.ts';
import { hastyClock } from '../helpers/hasten.ts';
import { startMiniService } from '../helpers/mini-service.ts';
import { setUpSandbox } from '../helpers/voicectl.ts';
import { conforming } from './conforming.ts';

/** How often each service is checked: `RUNS=20`, or `npm run conformance`. The contract tests check each once. */
const runs = Number(process.env.RUNS ?? 0);
const numbers = Array.from({ length: runs }, (_, index) => index + 1);

/** A clip that ends while somebody speaks. */
const spokenTurn = speechPcm.subarray(0, bytesForMs(800));

const dialects: Record<string, DialectInput> = {
  ...farDialects,
  // Tokens of one second are the same there, so that it is in no test that takes many at a time.
  'with ES256, no jti, closes without a frame and the oldest stream making room': {
    token: { algorithm: 'ES256', jti: false, header: { kid: 'k' } },
    refusals: { invalidRequest: { status: 400, statuses: { invalidJson: 422, wrongType: 415 } } },
    rateLimit: { retryAfter: 'none' },
    stream: {
      connectionLimit: 'evict-oldest',
      binaryToken: 'accept',
      connected: { fields: { id: { $uuid: true } }, after: [{ type: 'limits', seconds: 600 }] },
      tokenDeadlineMs: 2_000,
      closes: { tokenInvalid: { close: 1006 }, tokenExpired: { close: 1005 }, evicted: { close: 4_000 } },
    },
  },
};

describe.concurrent('a service that keeps the specification is never told that it does not', () => {
  // Each once, or as often as the others.
  const asked = numbers.length === 0 ? [1] : numbers;
  const cases = asked.flatMap((run) =>
    Object.entries(conforming).map(([does, change]) => ({ run, does, change })),
  );

  test.for(cases)('one that $does, run $run', async ({ change }) => {
    await using service = await startMiniService({ ...change, isMovable: false });
    const result = await check(service, { scope: { waitMs: 10_000 }, speech: spokenTurn });
    expect(complaints(result)).toEqual([]);
    const known = result.rules.filter(({ rule }) => ['R37', 'R38'].includes(rule.id));
    expect(known.map(({ finding }) => finding.verdict)).toEqual(['pass', 'pass']);
    expect(result.exitCode).toBe(0);
  });
});

describe.skipIf(runs === 0)('a service that keeps the specification is never told that it does not', () => {
  const start = setUpEmulators();
  const sandbox = setUpSandbox();

  test.each(Object.entries(dialects))(
    'the emulator %s',
    async (_name, dialect) => {
      for (const number of numbers) {
        const emulator = await start({ reply: 'echo', dialect, clock: hastyClock });
        const result = await check(emulator, { scope: { levels: everything }, isEmulator: true });
        expect(complaints(result), `run ${number}`).toEqual([]);
        expect(result.exitCode).toBe(0);
        await emulator.close();
      }
    },
    600_000,
  );

  test.skipIf(!hasForeignService)(
    'the service of another make, in real time',
    async () => {
      const service = await startForeignService(sandbox);
      // Each run has devices of its own.
      const results = await Promise.all(
        numbers.map((number) =>
          check(service, {
            clock: systemClock,
            devices: [`run-${number}`],
            scope: { waitMs: 10_000 },
            requestsPerSecond: 2,
          }),
        ),
      );
      const told = results.flatMap((result, index) => complaints(result).map((text) => `${index}: ${text}`));
      expect(told).toEqual([]);
    },
    120_000,
  );
});

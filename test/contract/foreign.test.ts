import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { hasForeignService, startForeignService } from '../helpers/foreign-service.ts';
import { describeService } from './service-contract.ts';

const choices: Record<string, string[]> = {
  'as it comes': [],
  'with ES256, the kind under event and a reset in milliseconds': [
    ...['--alg', 'ES256'],
    ...['--kind-field', 'event'],
    ...['--reset', 'milliseconds'],
  ],
  'with HS512, the kind under name, ISO 8601 and audio in messages of odd sizes': [
    ...['--alg', 'HS512'],
    ...['--kind-field', 'name'],
    ...['--reset', 'iso'],
    '--odd',
  ],
};

// Where it cannot run, the helper warns and names the package that is missing (python3-aiohttp).
describe.skipIf(!hasForeignService)('a service of another make', () => {
  for (const [name, args] of Object.entries(choices)) {
    describeService(
      `the foreign service ${name}`,
      async () => {
        const dir = mkdtempSync(join(tmpdir(), 'voicectl-contract-'));
        // It runs for the whole suite, and a sandbox only for a test. The folder goes with that of the run.
        const place = { path: (name: string) => join(dir, name), defer() {} };
        const { baseUrl, wsUrl, stop } = await startForeignService(place, args);
        return { baseUrl, wsUrl, apiKey: 'contract-key', close: stop };
      },
      'real',
    );
  }
});

import { createEmulator } from '../../src/emulator/emulator.ts';
import { farDialects } from '../helpers/far-dialects.ts';
import { describeService } from './service-contract.ts';

const apiKey = 'contract-key';

/** What takes time is asked of each kind of window: nothing else in these dialects changes it. */
const windows = /default|sliding/;

for (const [name, dialect] of Object.entries(farDialects)) {
  describeService(
    `the emulator ${name}`,
    async () => {
      const emulator = await createEmulator({ reply: 'echo', acceptKeys: [apiKey], dialect });
      return { baseUrl: emulator.baseUrl, wsUrl: emulator.wsUrl, apiKey, close: emulator.close };
    },
    windows.test(name) ? 'moved' : 'real',
  );
}

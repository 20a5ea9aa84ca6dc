import { defineSpec } from '../command.ts';

export const tokenSpec = defineSpec({
  name: 'token',
  summary: 'ask for one token and print it',
  headings: { emulator: 'Emulator of --local:' },
  mostUsed: ['local', 'baseUrl', 'device', 'apiKeyFile', 'apiKey', 'retries', 'timeout', 'decode', 'curl'],
  examples: [
    'TOKEN=$(voicectl token --device d1 --local)',
    'voicectl token --device d1 --decode',
    'voicectl token --device d1 --curl',
  ],
});

import { connectionOptions, localTokenOptions } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const tokenSpec = defineSpec({
  name: 'token',
  summary: 'ask for one token and print it',
  options: ['decode', 'curl', ...connectionOptions, ...localTokenOptions],
  headings: { decode: 'What to print:', local: 'Service:', scenario: 'Emulator of --local:' },
  examples: [
    'TOKEN=$(voicectl token --device d1 --local)',
    'voicectl token --device d1 --decode',
    'voicectl token --device d1 --curl',
  ],
});

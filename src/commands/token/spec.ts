import { connectionOptions } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const tokenSpec = defineSpec({
  name: 'token',
  summary: 'ask for one token and print it',
  options: [...connectionOptions, 'decode', 'curl'],
  examples: [
    'TOKEN=$(voicectl token --device d1 --local)',
    'voicectl token --device d1 --decode',
    'voicectl token --device d1 --curl',
  ],
});

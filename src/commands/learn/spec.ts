import { learnOptions } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const learnSpec = defineSpec({
  name: 'learn',
  summary: 'learn what a service does where the specification is silent, as a dialect of the emulator',
  options: learnOptions,
  headings: {
    baseUrl: 'The service, and the devices that ask:',
    level: 'What is asked:',
    dialectOut: 'The dialect:',
  },
  examples: [
    'voicectl learn --base-url https://staging.voice.example --level standard --out dialect.yaml',
    'voicectl learn --base-url https://staging.voice.example --diff dialect.yaml',
    'voicectl learn --base-url https://staging.voice.example --exhaust --merge dialect.yaml',
    'voicectl serve --dialect dialect.yaml',
  ],
});

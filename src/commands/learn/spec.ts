import { defineSpec } from '../command.ts';

export const learnSpec = defineSpec({
  name: 'learn',
  summary: 'learn what a service does where the specification is silent, as a dialect of the emulator',
  headings: { emulator: 'Emulator of --local:' },
  mostUsed: ['local', 'baseUrl', 'apiKeyFile', 'apiKey', 'level', 'dryRun', 'dialectOut', 'merge', 'diff'],
  examples: [
    'voicectl learn --base-url https://staging.voice.example --level standard --out dialect.yaml',
    'voicectl learn --base-url https://staging.voice.example --diff dialect.yaml',
    'voicectl learn --base-url https://staging.voice.example --exhaust --merge dialect.yaml',
    'voicectl serve --dialect dialect.yaml',
  ],
});

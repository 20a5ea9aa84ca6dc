import { type ContextOf, defineSpec } from '../command.ts';

export const checkSpec = defineSpec({
  name: 'check',
  summary: 'check, rule by rule, whether a service follows the specification',
  hasScreen: ({ dryRun, again }) => !dryRun && again === undefined,
  headings: { emulator: 'Emulator of --local:' },
  mostUsed: [
    'local',
    'baseUrl',
    'apiKeyFile',
    'apiKey',
    'level',
    'dryRun',
    'rule',
    'again',
    'expected',
    'dialect',
    'wait',
    'junit',
    'html',
  ],
  examples: [
    'voicectl check --local --level full',
    'voicectl check --base-url https://voice.example --dry-run',
    'voicectl check --base-url https://voice.example --junit check.xml --html check.html',
    'voicectl check --base-url https://voice.example --rule R12 --rule R41',
    'voicectl check --base-url https://voice.example --again R17',
  ],
});

export type CheckContext = ContextOf<typeof checkSpec>;

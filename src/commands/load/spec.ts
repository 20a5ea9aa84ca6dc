import { defineSpec } from '../command.ts';

export const loadSpec = defineSpec({
  name: 'load',
  summary: 'simulate many devices at once, and measure tokens, connections and replies under load',
  hasScreen: ({ dryRun }) => !dryRun,
  mostUsed: [
    'file',
    'sessions',
    'arrival',
    'hold',
    'task',
    'baseUrl',
    'apiKeyFile',
    'apiKey',
    'confirm',
    'dryRun',
    'threshold',
    'loadProcesses',
    'resultOut',
    'junit',
    'html',
  ],
  examples: [
    "voicectl load --sessions 200 --arrival poisson:20/s --threshold 'first-audio:p95<800ms'",
    'voicectl load --sessions 500 --task storm --ramp-up 10s --json',
    'voicectl load --sessions 5000 --base-url https://voice.example --confirm voice.example --dry-run',
  ],
});

export const loadMergeSpec = defineSpec({
  name: 'load merge',
  summary: 'merge the results of shards into one',
  args: [['<file...>', 'results that load --out has written', 'files']],
  examples: ['voicectl load merge shard-1.json shard-2.json --html load.html'],
});

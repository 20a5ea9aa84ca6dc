import { defineSpec } from '../command.ts';

export const compareSpec = defineSpec({
  name: 'compare',
  summary: 'compare two results: did it get worse?',
  args: [
    [
      '<before>',
      'a baseline, or a result of load --out, of stream, check or drill with --json, or a dialect',
    ],
    ['<now>', 'another one of the same kind'],
  ],
  examples: [
    'voicectl compare baseline.json result.json',
    "voicectl compare monday.json today.json --tolerance 'first-audio:p95<10%' --html compare.html",
    'voicectl compare staging.yaml production.yaml',
  ],
});

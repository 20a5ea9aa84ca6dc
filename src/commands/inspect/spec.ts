import { defineSpec } from '../command.ts';

export const inspectSpec = defineSpec({
  name: 'inspect',
  summary:
    'show the timeline, turn-taking, voice, events and summary of a recording or of a WAV, or export it as a page or a HAR',
  args: [
    [
      '<recording>',
      'folder written by stream --record, or a WAV: the user left, the AI right; mono: the AI',
      'files',
    ],
  ],
  examples: [
    'voicectl inspect session/',
    'voicectl inspect session/ --html session.html',
    'voicectl inspect session/ --har session.har',
    'voicectl inspect call.wav --json',
    'voicectl inspect session/ --scenario-out session.yaml',
  ],
});

import { defineSpec } from '../command.ts';

export const inspectSpec = defineSpec({
  name: 'inspect',
  summary:
    'show the timeline, turn-taking, events and summary of a recording or of a stereo WAV, or export it as a page or a HAR',
  args: [
    [
      '<recording>',
      'folder written by stream --record, or a stereo WAV: the user left, the AI right',
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

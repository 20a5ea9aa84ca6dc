import { defineSpec } from '../command.ts';

export const inspectSpec = defineSpec({
  name: 'inspect',
  summary: 'show the timeline, events and summary of a recording, or export it as a page or a HAR',
  args: [['<recording>', 'folder written by stream --record', 'folders']],
  examples: [
    'voicectl inspect session/',
    'voicectl inspect session/ --html session.html',
    'voicectl inspect session/ --har session.har',
  ],
});

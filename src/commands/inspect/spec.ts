import { defineSpec } from '../command.ts';

export const inspectSpec = defineSpec({
  name: 'inspect',
  summary: 'show a recording: its timeline, events and summary; or make a page or a HAR of it',
  args: [['<recording>', 'folder that stream --record has written']],
  options: ['html', 'har', 'ascii'],
  examples: [
    'voicectl inspect session/',
    'voicectl inspect session/ --html session.html',
    'voicectl inspect session/ --har session.har',
  ],
});

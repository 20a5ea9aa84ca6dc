import { defineSpec } from '../command.ts';

export const replaySpec = defineSpec({
  name: 'replay',
  summary: 'run the emulator with an AI that plays a recording',
  hasScreen: () => true,
  args: [['<recording>', 'folder written by stream --record', 'folders']],
  mostUsed: ['fault', 'network', 'port', 'host', 'page'],
  examples: ['voicectl replay session/', 'voicectl replay session/ --speed 4 --port 0 --json'],
});

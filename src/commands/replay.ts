import { defineCommand } from './command.ts';
import { serveCommand, serveOptions } from './serve.ts';

type ReplayOption = Exclude<(typeof serveOptions)[number], 'reply'>;

export const replayCommand = defineCommand({
  name: 'replay',
  summary: 'run the emulator with an AI that says what was recorded, at the times of the recording',
  args: [['<recording>', 'folder that stream --record has written']],
  options: serveOptions.filter((name): name is ReplayOption => name !== 'reply'),
  examples: ['voicectl replay session/', 'voicectl replay session/ --speed 4 --port 0 --json'],
  run: (context) =>
    serveCommand.run({
      ...context,
      settings: { ...context.settings, reply: `replay:${context.args[0]}` },
    }),
});

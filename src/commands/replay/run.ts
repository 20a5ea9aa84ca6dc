import { defineCommand } from '../command.ts';
import { serveCommand, serveOptions } from '../serve/run.ts';

/** The recording speaks: neither of these would be heard. */
type Unheard = 'reply' | 'scenario';
type ReplayOption = Exclude<(typeof serveOptions)[number], Unheard>;

export const replayCommand = defineCommand({
  name: 'replay',
  summary: 'run the emulator with an AI that says what was recorded, at the times of the recording',
  args: [['<recording>', 'folder that stream --record has written']],
  options: serveOptions.filter((name): name is ReplayOption => name !== 'reply' && name !== 'scenario'),
  examples: ['voicectl replay session/', 'voicectl replay session/ --speed 4 --port 0 --json'],
  run: (context) =>
    serveCommand.run({
      ...context,
      settings: { ...context.settings, reply: `replay:${context.args[0]}`, scenario: undefined },
    }),
});

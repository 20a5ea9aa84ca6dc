import { defineSpec } from '../command.ts';
import { serveSpec } from '../serve/spec.ts';

type ServeOption = (typeof serveSpec.options)[number];

/** The recording speaks: neither of these would be heard. */
type Unheard = 'reply' | 'scenario';

const { reply: service, ...others } = serveSpec.headings ?? {};
/** Under the same headings, the first of which has lost its first option. */
const headings = { ...others, ...(service === undefined ? {} : { fault: service }) };

export const replaySpec = defineSpec({
  name: 'replay',
  summary: 'run the emulator with an AI that plays a recording',
  args: [['<recording>', 'folder written by stream --record']],
  options: serveSpec.options.filter(
    (name): name is Exclude<ServeOption, Unheard> => name !== 'reply' && name !== 'scenario',
  ),
  headings,
  examples: ['voicectl replay session/', 'voicectl replay session/ --speed 4 --port 0 --json'],
});

import { defineSpec } from '../command.ts';
import { serveSpec } from '../serve/spec.ts';

type ServeOption = (typeof serveSpec.options)[number];

/** Options of `serve` that have no effect here, because the recording speaks. */
type Unheard = 'reply' | 'scenario';

const { reply: service, ...others } = serveSpec.headings ?? {};
/** The same headings; the first one moves to another option, because its own is gone. */
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

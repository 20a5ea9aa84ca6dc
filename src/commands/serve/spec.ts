import { emulatorOptions } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const serveSpec = defineSpec({
  name: 'serve',
  summary: 'run the emulator of the whole service: token endpoint and voice stream',
  options: [
    'host',
    'port',
    ...emulatorOptions,
    'tls',
    'cert',
    'key',
    'certOut',
    'controlSecretFile',
    'readyFile',
    'ascii',
  ],
  examples: [
    'voicectl serve',
    'voicectl serve --port 0 --reply echo --json',
    'voicectl serve --dialect dialect.yaml',
    'voicectl serve --tls --cert-out cert.pem',
  ],
});

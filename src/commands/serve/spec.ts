import { emulatorOptions } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const serveSpec = defineSpec({
  name: 'serve',
  summary: 'run the emulator of the whole service: token endpoint and voice stream',
  options: [
    ...emulatorOptions,
    'port',
    'host',
    'readyFile',
    'controlSecretFile',
    'tls',
    'cert',
    'key',
    'certOut',
    'shared',
    'sharedPrefix',
    'processes',
    'page',
    'open',
    'ascii',
  ],
  headings: {
    reply: 'What the service does:',
    rateLimit: 'Limits:',
    acceptKey: 'Who may connect:',
    port: 'Where it listens:',
    tls: 'TLS:',
    shared: 'Several emulators as one service:',
    page: 'Page:',
    ascii: 'Screen:',
  },
  examples: [
    'voicectl serve',
    'voicectl serve --open',
    'voicectl serve --port 0 --reply echo --json',
    'voicectl serve --dialect dialect.yaml',
    'voicectl serve --tls --cert-out cert.pem',
    'voicectl serve --shared redis://127.0.0.1:6379',
  ],
});

import { defineSpec } from '../command.ts';

export const serveSpec = defineSpec({
  name: 'serve',
  summary: 'run the emulator of the whole service: token endpoint and voice stream',
  hasScreen: () => true,
  mostUsed: [
    'reply',
    'scenario',
    'fault',
    'network',
    'dialect',
    'rateLimit',
    'acceptKey',
    'port',
    'host',
    'tls',
    'shared',
    'page',
  ],
  examples: [
    'voicectl serve',
    'voicectl serve --open',
    'voicectl serve --port 0 --reply echo --json',
    'voicectl serve --dialect dialect.yaml',
    'voicectl serve --tls --cert-out cert.pem',
    'voicectl serve --shared redis://127.0.0.1:6379',
  ],
});

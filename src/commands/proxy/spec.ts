import { defineSpec } from '../command.ts';

export const proxySpec = defineSpec({
  name: 'proxy',
  summary: 'sit between a device and a service: show, judge and disturb the traffic',
  hasScreen: () => true,
  headings: { emulator: 'Verdicts and faults:' },
  mostUsed: ['target', 'proxyPort', 'proxyHost', 'fault', 'network', 'failOn', 'proxyRecord', 'tls', 'page'],
  examples: [
    'voicectl proxy --target https://service.example --record sessions',
    'voicectl proxy --target https://service.example --open',
    'voicectl proxy --target http://127.0.0.1:8787 --json --fail-on violation',
    'voicectl proxy --target https://service.example --host 0.0.0.0 --tls --cert-out cert.pem',
  ],
});

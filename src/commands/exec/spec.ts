import { defineSpec } from '../command.ts';

export const execSpec = defineSpec({
  name: 'exec',
  summary: 'start an emulator on a free port, run a command against it, exit with the command’s status',
  args: [['<command...>', 'the command and its arguments', 'files']],
  passThrough: true,
  sharesTerminal: true,
  headings: {
    target: 'Through a proxy to a service, instead of an emulator:',
    service: 'Passed to the command:',
    tls: 'Passed to the command:',
  },
  mostUsed: [
    'target',
    'reply',
    'scenario',
    'fault',
    'network',
    'dialect',
    'rateLimit',
    'acceptKey',
    'proxyRecord',
    'failOn',
  ],
  examples: [
    'voicectl exec -- npm test',
    'voicectl exec --target https://service.example --fail-on violation -- npm test',
    'voicectl exec --reply echo -- sh -c \'curl "$VOICECTL_BASE_URL"\'',
  ],
});

import { defineSpec } from '../command.ts';

export const streamSpec = defineSpec({
  name: 'stream',
  summary: 'ask for a token, connect, stream audio, receive the AI audio',
  // A screen shows one session. For several, lines show the figures.
  hasScreen: ({ interactive, repeat, warmup }) => !interactive && repeat + warmup === 1,
  headings: { emulator: 'Emulator of --local:' },
  mostUsed: [
    'file',
    'mic',
    'interactive',
    'local',
    'baseUrl',
    'device',
    'apiKeyFile',
    'apiKey',
    'reply',
    'fault',
    'expectAudio',
    'maxFirstAudio',
    'play',
    'out',
    'record',
    'junit',
  ],
  examples: [
    'voicectl stream --file hello.wav --local --expect-audio',
    'voicectl stream --file hello.wav --out reply.wav --json',
    'voicectl stream --mic --local',
    'voicectl stream --interactive --local',
    'voicectl stream --file hello.wav --local --scenario barge-in --fault drip',
    'sox in.flac -t wav - | voicectl stream --file - --out - | sox -t raw -r 16k -e signed -b 16 -c 1 - out.flac',
  ],
});

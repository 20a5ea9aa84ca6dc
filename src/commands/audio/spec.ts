import { defineSpec } from '../command.ts';

export const audioSpec = defineSpec({
  name: 'audio',
  old: 'devices',
  summary: 'list audio inputs and outputs, or test them',
  args: [
    [
      '[action]',
      'test: record two seconds, play them back, and measure the delay from output to input',
      ['test'],
    ],
  ],
  examples: ['voicectl audio', 'voicectl audio --json', 'voicectl audio test --input-device headset'],
});

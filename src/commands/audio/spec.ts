import { defineSpec } from '../command.ts';

export const devicesSpec = defineSpec({
  name: 'devices',
  summary: 'list audio inputs and outputs, or test them',
  args: [
    ['[action]', 'test: record two seconds, play them back, and measure the delay from output to input'],
  ],
  examples: ['voicectl devices', 'voicectl devices --json', 'voicectl devices test --input-device headset'],
});

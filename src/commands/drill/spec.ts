import { defineSpec } from '../command.ts';

export const drillSpec = defineSpec({
  name: 'drill',
  summary: 'put a device through everything a service can do to it, and judge how it reacts',
  hasScreen: ({ list }) => !list,
  args: [
    ['[command...]', 'the command that runs the device; without one, start the device yourself', 'files'],
  ],
  passThrough: true,
  headings: { service: 'The device:' },
  mostUsed: ['situation', 'list', 'noticeWithin', 'device', 'port', 'host', 'tls', 'junit'],
  examples: [
    'voicectl drill -- node device.js',
    'voicectl drill --situation D9 --situation D10-half-open -- python3 device.py',
    'voicectl drill --junit drill.xml --parallel 4 -- ./client',
    'voicectl drill --host 0.0.0.0 --accept-key-file keys.txt --device kitchen',
    'voicectl drill --list',
  ],
});

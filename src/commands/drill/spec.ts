import { defineSpec } from '../command.ts';

export const drillSpec = defineSpec({
  name: 'drill',
  summary: 'put a device through everything that a service can do to it, and judge what it does',
  args: [['[command...]', 'the command that is the device; without one it connects by itself']],
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

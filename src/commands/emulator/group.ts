import { type CommandGroup, defineCommand } from '../command.ts';

const importRun = () => import('./run.ts');

const headings = { service: 'Emulator:', listen: 'Emulator:' };

/** The commands that control a running emulator. */
export const emulatorGroup: CommandGroup = {
  name: 'emulator',
  summary: 'control a running emulator: its state, journal, clock, faults and streams',
  subcommands: [
    defineCommand({
      name: 'emulator state',
      summary: 'show devices, rate-limit windows, streams and tokens',
      headings: headings,
      examples: ['voicectl emulator state --json'],
      load: async () => (await importRun()).state,
    }),
    defineCommand({
      name: 'emulator journal',
      summary: 'show past events, or new ones with --follow',
      headings: headings,
      examples: [
        'voicectl emulator journal --follow',
        'voicectl emulator journal --type stream-closed --json',
      ],
      load: async () => (await importRun()).journal,
    }),
    defineCommand({
      name: 'emulator reset',
      summary: 'close all streams, and clear rate-limit windows and the journal',
      headings: headings,
      examples: ['voicectl emulator reset'],
      load: async () => (await importRun()).reset,
    }),
    defineCommand({
      name: 'emulator clock',
      summary: 'show the emulator’s time, or move it forward',
      args: [
        ['[action]', 'advance', ['advance']],
        ['[duration]', 'the duration, such as 61s'],
      ],
      headings: headings,
      examples: ['voicectl emulator clock', 'voicectl emulator clock advance 61s'],
      load: async () => (await importRun()).clock,
    }),
    defineCommand({
      name: 'emulator fault',
      summary: 'list the available faults, or add, show or clear active ones',
      args: [
        ['<action>', 'list, add, active or clear', ['list', 'add', 'active', 'clear']],
        [
          '[fault]',
          'the fault to add, such as close:code=1012,after=2s; or the number of one to clear',
          'faults',
        ],
      ],
      headings: headings,
      examples: [
        'voicectl emulator fault list',
        'voicectl emulator fault add rate-limited --times 2',
        'voicectl emulator fault add drop --probability 0.1 --on-device d1',
        'voicectl emulator fault active',
        'voicectl emulator fault clear',
      ],
      load: async () => (await import('./fault.ts')).runFault,
    }),
    defineCommand({
      name: 'emulator event',
      summary: 'send an event to the scenario',
      args: [['<name>', 'the name of the event in the scenario']],
      headings: headings,
      examples: ['voicectl emulator event door-opened --on-device d1'],
      load: async () => (await importRun()).event,
    }),
    defineCommand({
      name: 'emulator send',
      summary: 'send a status, an error or any JSON to streams',
      args: [['[json]', 'a message to send unchanged']],
      headings: headings,
      examples: [
        'voicectl emulator send --status speaking',
        `voicectl emulator send '{"type":"lights","on":true}' --on-device d1`,
      ],
      load: async () => (await importRun()).send,
    }),
    defineCommand({
      name: 'emulator speak',
      summary: 'play a WAV, or headerless 16 kHz s16le mono, to streams',
      args: [['<file>', 'WAV or raw PCM; - reads standard input', 'sounds']],
      headings: headings,
      examples: ['voicectl emulator speak hello.wav --on-stream 3'],
      load: async () => (await importRun()).speak,
    }),
    defineCommand({
      name: 'emulator close',
      summary: 'close streams with a code',
      headings: headings,
      examples: ['voicectl emulator close --on-device d1 --code 1012'],
      load: async () => (await importRun()).close,
    }),
  ],
};

import { faultScopeOptions, type OptionName } from '../../config/options.ts';
import { defineSpec } from '../command.ts';

export const reachOptions = ['baseUrl', 'ca', 'controlSecretFile', 'timeout'] as const satisfies OptionName[];
const streamOptions = [...reachOptions, 'onStream', 'onDevice'] as const satisfies OptionName[];

export const stateSpec = defineSpec({
  name: 'state',
  summary: 'show devices, windows, streams and tokens',
  options: reachOptions,
  examples: ['voicectl emulator state --json'],
});

export const journalSpec = defineSpec({
  name: 'journal',
  summary: 'show past events, or with --follow new ones',
  options: [...streamOptions, 'follow', 'type', 'limit'],
  examples: ['voicectl emulator journal --follow', 'voicectl emulator journal --type stream-closed --json'],
});

export const resetSpec = defineSpec({
  name: 'reset',
  summary: 'close all streams, and forget windows and the journal',
  options: reachOptions,
  examples: ['voicectl emulator reset'],
});

export const clockSpec = defineSpec({
  name: 'clock',
  summary: 'show the time of the emulator, or move it forward',
  args: [
    ['[action]', 'advance'],
    ['[duration]', 'the duration, such as 61s'],
  ],
  options: reachOptions,
  examples: ['voicectl emulator clock', 'voicectl emulator clock advance 61s'],
});

export const faultSpec = defineSpec({
  name: 'fault',
  summary: 'list the catalogue of faults; add, show or clear active ones',
  args: [
    ['<action>', 'list, add, active or clear'],
    ['[fault]', 'what to add, such as close:code=1012,after=2s; or the number to clear'],
  ],
  options: [...reachOptions, ...faultScopeOptions],
  examples: [
    'voicectl emulator fault list',
    'voicectl emulator fault add rate-limited --times 2',
    'voicectl emulator fault add drop --probability 0.1 --on-device d1',
    'voicectl emulator fault active',
    'voicectl emulator fault clear',
  ],
});

export const eventSpec = defineSpec({
  name: 'event',
  summary: 'report an event to the scenario',
  args: [['<name>', 'the name of the event in the scenario']],
  options: streamOptions,
  examples: ['voicectl emulator event door-opened --on-device d1'],
});

export const sendSpec = defineSpec({
  name: 'send',
  summary: 'send a status, an error or any JSON to streams',
  args: [['[json]', 'a message to send unchanged']],
  options: [...streamOptions, 'status', 'errorCode', 'message'],
  examples: [
    'voicectl emulator send --status speaking',
    `voicectl emulator send '{"type":"lights","on":true}' --on-device d1`,
  ],
});

export const speakSpec = defineSpec({
  name: 'speak',
  summary: 'say a WAV, or headerless 16 kHz s16le mono, to streams',
  args: [['<file>', 'WAV or raw PCM; - is standard input']],
  options: streamOptions,
  examples: ['voicectl emulator speak hello.wav --on-stream 3'],
});

export const closeSpec = defineSpec({
  name: 'close',
  summary: 'close streams with a code',
  options: [...streamOptions, 'code', 'reason'],
  examples: ['voicectl emulator close --on-device d1 --code 1012'],
});

import { defineSpec } from '../command.ts';

const headings = { service: 'Emulator:', listen: 'Emulator:' };

export const stateSpec = defineSpec({
  name: 'emulator state',
  summary: 'show devices, windows, streams and tokens',
  headings,
  examples: ['voicectl emulator state --json'],
});

export const journalSpec = defineSpec({
  name: 'emulator journal',
  summary: 'show past events, or with --follow new ones',
  headings,
  examples: ['voicectl emulator journal --follow', 'voicectl emulator journal --type stream-closed --json'],
});

export const resetSpec = defineSpec({
  name: 'emulator reset',
  summary: 'close all streams, and clear windows and the journal',
  headings,
  examples: ['voicectl emulator reset'],
});

export const clockSpec = defineSpec({
  name: 'emulator clock',
  summary: 'show the emulator’s time, or move it forward',
  args: [
    ['[action]', 'advance', ['advance']],
    ['[duration]', 'the duration, such as 61s'],
  ],
  headings,
  examples: ['voicectl emulator clock', 'voicectl emulator clock advance 61s'],
});

export const faultSpec = defineSpec({
  name: 'emulator fault',
  summary: 'list all faults; add some, see active ones, clear them',
  args: [
    ['<action>', 'list, add, active or clear', ['list', 'add', 'active', 'clear']],
    ['[fault]', 'what to add, such as close:code=1012,after=2s; or the number to clear', 'faults'],
  ],
  headings,
  examples: [
    'voicectl emulator fault list',
    'voicectl emulator fault add rate-limited --times 2',
    'voicectl emulator fault add drop --probability 0.1 --on-device d1',
    'voicectl emulator fault active',
    'voicectl emulator fault clear',
  ],
});

export const eventSpec = defineSpec({
  name: 'emulator event',
  summary: 'send an event to the scenario',
  args: [['<name>', 'the name of the event in the scenario']],
  headings,
  examples: ['voicectl emulator event door-opened --on-device d1'],
});

export const sendSpec = defineSpec({
  name: 'emulator send',
  summary: 'send a status, an error or any JSON to streams',
  args: [['[json]', 'a message to send unchanged']],
  headings,
  examples: [
    'voicectl emulator send --status speaking',
    `voicectl emulator send '{"type":"lights","on":true}' --on-device d1`,
  ],
});

export const speakSpec = defineSpec({
  name: 'emulator speak',
  summary: 'play a WAV, or headerless 16 kHz s16le mono, to streams',
  args: [['<file>', 'WAV or raw PCM; - is standard input', 'sounds']],
  headings,
  examples: ['voicectl emulator speak hello.wav --on-stream 3'],
});

export const closeSpec = defineSpec({
  name: 'emulator close',
  summary: 'close streams with a code',
  headings,
  examples: ['voicectl emulator close --on-device d1 --code 1012'],
});

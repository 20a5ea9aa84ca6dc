import { describe, expect, test } from 'vitest';
import {
  parseAlsaNames,
  parsePipewireDump,
  parsePulseList,
} from '../../../src/devices/backends/list-devices.ts';
import { selectDevice } from '../../../src/devices/backends/open-first.ts';

describe('what programs list', () => {
  test('pactl: name, description, and the default', () => {
    const text = [
      'Source #0',
      '\tState: SUSPENDED',
      '\tName: alsa_output.usb.monitor',
      '\tDescription: Monitor of USB Audio',
      '\tProperties:',
      '\t\tdevice.description = "Monitor of USB Audio"',
      '',
      'Source #1',
      '\tName: alsa_input.usb',
      '\tDescription: USB Audio Mono',
    ].join('\n');
    expect(parsePulseList('input', text, 'Default Sink: x\nDefault Source: alsa_input.usb\n')).toEqual([
      { id: 'alsa_output.usb.monitor', name: 'Monitor of USB Audio', role: 'input', isDefault: false },
      { id: 'alsa_input.usb', name: 'USB Audio Mono', role: 'input', isDefault: true },
    ]);
    expect(parsePulseList('output', '', '')).toEqual([]);
  });

  test('arecord -L: names at the margin, descriptions below', () => {
    const text =
      'default\n    Playback/recording through PulseAudio\nhw:CARD=U0,DEV=0\n    USB, Audio\n    Direct\n';
    expect(parseAlsaNames('input', text)).toEqual([
      {
        id: 'default',
        name: 'default (Playback/recording through PulseAudio)',
        role: 'input',
        isDefault: true,
      },
      {
        id: 'hw:CARD=U0,DEV=0',
        name: 'hw:CARD=U0,DEV=0 (USB, Audio, Direct)',
        role: 'input',
        isDefault: false,
      },
    ]);
  });

  test('arecord -L without a sound card lists plugins, which are not devices', () => {
    const text = 'null\n    Discard all samples\npulse\n    PulseAudio Sound Server\nupmix\n    Plugin\n';
    expect(parseAlsaNames('input', text)).toEqual([]);
  });

  test('pw-dump: sources and sinks among the nodes, and the default of each', () => {
    const dump = JSON.stringify([
      { type: 'PipeWire:Interface:Core', info: { props: {} } },
      {
        info: {
          props: {
            'media.class': 'Audio/Source',
            'node.name': 'alsa_input.pci',
            'node.description': 'Built-in',
          },
        },
      },
      { info: { props: { 'media.class': 'Audio/Sink', 'node.name': 'alsa_output.pci' } } },
      { info: { props: { 'media.class': 'Stream/Output/Audio', 'node.name': 'firefox' } } },
      { metadata: [{ subject: 0, key: 'default.audio.source', value: { name: 'alsa_input.pci' } }] },
    ]);
    expect(parsePipewireDump(dump)).toEqual([
      { id: 'alsa_input.pci', name: 'Built-in', role: 'input', isDefault: true },
      { id: 'alsa_output.pci', name: 'alsa_output.pci', role: 'output', isDefault: false },
    ]);
  });
});

describe('a device is chosen', () => {
  const device = (id: string, name: string) => ({ id, name, role: 'input' as const, isDefault: false });
  const devices = [device('7', 'Headset'), device('8', 'Headset (2)'), device('9', 'USB Audio')];

  test.each([
    ['2', '9'],
    ['headset', '7'],
    ['usb', '9'],
    ['(2)', '8'],
  ])('by "%s"', (text, id) => {
    expect(selectDevice(text, devices).id).toBe(id);
  });

  test('among devices of the same name by its name in the backend', () => {
    const monitors = [
      device('spk.monitor', 'Monitor'),
      device('mic.monitor', 'Monitor'),
      device('m', 'Mono'),
    ];
    expect(() => selectDevice('mon', monitors)).toThrow(
      expect.objectContaining({
        hint: expect.stringMatching(/: Monitor \[spk\.monitor\], Monitor \[mic\.monitor\], Mono\. /),
      }),
    );
    expect(selectDevice('spk.mon', monitors).id).toBe('spk.monitor');
  });

  test.each([
    ['head', '"head" could be any of 2 devices', /^Name one of them: \S.*, .*voicectl audio/],
    ['gramophone', 'There is no sound device "gramophone"', /^There are: \S.*, .*voicectl audio/],
    ['3', 'There is no sound device "3"', /^There are: /],
  ])('but not by "%s"', (text, message, hint) => {
    expect(() => selectDevice(text, devices)).toThrow(
      expect.objectContaining({ code: 'audio-device', message, hint: expect.stringMatching(hint) }),
    );
  });
});

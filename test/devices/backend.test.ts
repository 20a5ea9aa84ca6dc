import { describe, expect, test } from 'vitest';
import { type AudioLineOptions, backends, fitsHost, type ProgramBackend } from '../../src/devices/backend.ts';

const host = (platform: NodeJS.Platform, arch: string) => ({ platform, arch });
const named = (name: string) => backends.find((backend) => backend.name === name)!;
const line = (name: string, options: Partial<AudioLineOptions> = {}) => {
  const found = (named(name) as ProgramBackend).line({
    role: 'capture',
    device: undefined,
    platform: 'linux',
    help: '',
    ...options,
  });
  return found && [found.command, ...found.args].join(' ');
};

describe('the backends', () => {
  test('are tried in this order', () => {
    expect(backends.map(({ name }) => name)).toEqual([
      'pulse',
      'pipewire',
      'naudiodon',
      'alsa',
      'decibri',
      'ffmpeg',
      'sox',
    ]);
  });

  test.each([
    ['linux', 'x64', ['pulse', 'pipewire', 'naudiodon', 'alsa', 'decibri', 'ffmpeg', 'sox']],
    ['linux', 'arm64', ['pulse', 'pipewire', 'alsa', 'decibri', 'ffmpeg', 'sox']],
    ['darwin', 'arm64', ['decibri', 'ffmpeg', 'sox']],
    ['darwin', 'x64', ['naudiodon', 'ffmpeg', 'sox']],
    ['win32', 'x64', ['naudiodon', 'decibri', 'ffmpeg', 'sox']],
  ] as const)('on %s %s are the ones that support it', (platform, arch, expected) => {
    const fitting = backends.filter((backend) => fitsHost(backend, host(platform, arch)));
    expect(fitting.map(({ name }) => name)).toEqual(expected);
  });

  test.each([
    [
      'pulse',
      'parec --raw --format=s16le --rate=16000 --channels=1 --latency-msec=20 --process-time-msec=20',
      'pacat --playback -v --raw --format=s16le --rate=16000 --channels=1 --latency-msec=40 --process-time-msec=5',
    ],
    [
      'alsa',
      'arecord -q -t raw -f S16_LE -r 16000 -c 1 --buffer-time=80000 --period-time=20000 -',
      'aplay -q -t raw -f S16_LE -r 16000 -c 1 --buffer-time=80000 --period-time=20000 -',
    ],
    [
      'sox',
      'sox -q --buffer 320 -r 16000 -c 1 -d -t raw -e signed -b 16 - remix 1 1 1 1 1 1 1 1',
      'play -q --buffer 320 -t raw -e signed -b 16 -r 16000 -c 1 -',
    ],
    [
      'pipewire',
      'pw-record --rate=16000 --channels=1 --format=s16 --latency=20ms -',
      'pw-play --rate=16000 --channels=1 --format=s16 --latency=20ms -',
    ],
  ])('%s is started for low latency', (name, capture, playback) => {
    expect(line(name)).toBe(capture);
    expect(line(name, { role: 'playback' })).toBe(playback);
  });

  test('ffplay gets the format only by options for raw audio, which every version knows', () => {
    const args = line('ffmpeg', { role: 'playback' });
    expect(args).toMatch(/-f s16le -sample_rate 16000 -i pipe:0$/);
    expect(args).not.toMatch(/ -a[cr] /);
  });

  test.each([
    ['pulse', /--device=usb$/],
    ['alsa', /-D usb -$/],
    ['pipewire', /--target=usb -$/],
    ['ffmpeg', /-i usb /],
  ])('%s gets the device', (name, expected) => {
    expect(line(name, { device: 'usb' })).toMatch(expected);
  });

  test('sox gets the device by its environment', () => {
    const found = (named('sox') as ProgramBackend).line({
      role: 'capture',
      device: 'usb',
      platform: 'linux',
      help: '',
    });
    expect(found?.env).toEqual({ AUDIODEV: 'usb', PULSE_LATENCY_MSEC: '20' });
  });

  test('pw-record is asked for raw audio if it knows the option', () => {
    expect(line('pipewire', { help: '  -a, --raw   RAW mode' })).toMatch(/^pw-record --raw --rate/);
  });

  test('ffmpeg takes the device of each system, and none if there is no default', () => {
    expect(line('ffmpeg')).toMatch(/-f pulse .*-i default /);
    expect(line('ffmpeg', { platform: 'darwin' })).toMatch(/-f avfoundation -i :default /);
    expect(line('ffmpeg', { platform: 'win32', device: 'Mic' })).toMatch(/-f dshow .*-i audio=Mic /);
    expect(line('ffmpeg', { platform: 'win32' })).toBeUndefined();
    expect(line('ffmpeg', { role: 'playback', device: 'usb' })).toBeUndefined();
  });
});

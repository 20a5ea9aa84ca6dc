import type { audioBackendNames } from '../config/parse.ts';

export type Role = 'capture' | 'playback';

/** How to start a program that emits (capture) or takes (playback) raw 16 kHz s16le mono on its standard streams. */
export interface ProgramLine {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface AudioLineOptions {
  readonly role: Role;
  /** The backend's own name of the device. Undefined: its default device. */
  readonly device: string | undefined;
  readonly platform: NodeJS.Platform;
  /** The output of the program's `--help`; empty unless `readsHelp` is set. */
  readonly help: string;
}

interface BackendFacts {
  readonly name: (typeof audioBackendNames)[number];
  /** Where it works: a platform, or a platform and processor such as `darwin-arm64`. */
  readonly hosts: readonly string[];
  /** What to install to use it. */
  readonly install: string;
  /** Time from writing audio until it is heard, measured on virtual devices. */
  readonly playbackMs: number;
}

/** A library that is loaded in a separate process: the device host. */
export interface NativeBackend extends BackendFacts {
  readonly kind: 'native';
  readonly library: 'naudiodon' | 'decibri';
}

/** An external program. */
export interface ProgramBackend extends BackendFacts {
  readonly kind: 'program';
  readonly programs: Readonly<Record<Role, string>>;
  readonly readsHelp?: true;
  /**
   * Matches lines in which the player reports its progress. Groups: `seconds` played; in some players `held`, the
   * microseconds of audio that its server and its device have accepted but not played; `underrun` if it had nothing to
   * play.
   */
  readonly status?: RegExp;
  /** A program that ends when the sound server ends. Needed for a player that continues without the server. */
  readonly witness?: ProgramLine;
  /** Set if it opens its device only when it receives audio. */
  readonly startsWithAudio?: true;
  /**
   * Silence that is sent before audio that follows a pause. Needed for a player that starts to play with the first
   * sample: otherwise each frame would come too late.
   */
  readonly cushionMs?: number;
  /** How many identical channels it captures. Default: 1. */
  readonly captureChannels?: number;
  /** How to start it. Undefined if the backend cannot do this. */
  line(options: AudioLineOptions): ProgramLine | undefined;
}

export type Backend = NativeBackend | ProgramBackend;

const rate = '16000';

const naudiodon: NativeBackend = {
  kind: 'native',
  name: 'naudiodon',
  playbackMs: 80,
  library: 'naudiodon',
  // The platforms for which it includes PortAudio. On macOS that is Intel only.
  hosts: ['linux-x64', 'linux-arm', 'darwin-x64', 'win32-x64'],
  install: 'npm rebuild naudiodon (with install scripts allowed, Python, make and a C++ compiler)',
};

const pulse: ProgramBackend = {
  kind: 'program',
  name: 'pulse',
  playbackMs: 25,
  hosts: ['linux', 'freebsd'],
  install: 'pulseaudio-utils (parec and pacat)',
  programs: { capture: 'parec', playback: 'pacat' },
  status: /^Time: (?<seconds>-?\d+\.\d+) sec; Latency: (?<held>-?\d+) usec|^Stream (?<underrun>underrun)/,
  line({ role, device }) {
    const format = ['--raw', '--format=s16le', `--rate=${rate}`, '--channels=1'];
    const named = device === undefined ? [] : [`--device=${device}`];
    // Without these options pacat holds seconds of audio.
    return role === 'capture'
      ? { command: 'parec', args: [...format, '--latency-msec=20', '--process-time-msec=20', ...named] }
      : {
          command: 'pacat',
          args: ['--playback', '-v', ...format, '--latency-msec=40', '--process-time-msec=5', ...named],
        };
  },
};

const pipewire: ProgramBackend = {
  kind: 'program',
  name: 'pipewire',
  playbackMs: 45,
  hosts: ['linux'],
  install: 'pipewire-bin (pw-record and pw-play)',
  programs: { capture: 'pw-record', playback: 'pw-play' },
  readsHelp: true,
  line({ role, device, help }) {
    return {
      command: role === 'capture' ? 'pw-record' : 'pw-play',
      args: [
        // Version 0.3 refuses this flag. Later versions write a header without it.
        ...(/--raw\b/.test(help) ? ['--raw'] : []),
        `--rate=${rate}`,
        '--channels=1',
        '--format=s16',
        '--latency=20ms',
        ...(device === undefined ? [] : [`--target=${device}`]),
        '-',
      ],
    };
  },
};

const alsa: ProgramBackend = {
  kind: 'program',
  name: 'alsa',
  playbackMs: 85,
  hosts: ['linux'],
  install: 'alsa-utils (arecord and aplay)',
  programs: { capture: 'arecord', playback: 'aplay' },
  cushionMs: 40,
  line: ({ role, device }) => ({
    command: role === 'capture' ? 'arecord' : 'aplay',
    args: [
      ...['-q', '-t', 'raw', '-f', 'S16_LE', '-r', rate, '-c', '1'],
      ...['--buffer-time=80000', '--period-time=20000'],
      ...(device === undefined ? [] : ['-D', device]),
      '-',
    ],
  }),
};

const decibri: NativeBackend = {
  kind: 'native',
  name: 'decibri',
  playbackMs: 440,
  library: 'decibri',
  hosts: ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64'],
  install: 'npm install decibri@5.0.0 (no compiler needed; glibc 2.34 or newer on Linux)',
};

const ffmpeg: ProgramBackend = {
  kind: 'program',
  name: 'ffmpeg',
  playbackMs: 100,
  hosts: ['linux', 'darwin', 'win32', 'freebsd'],
  install: 'ffmpeg (with ffplay)',
  programs: { capture: 'ffmpeg', playback: 'ffplay' },
  // Reports its clock, which starts when the first audio reaches a device; before that it prints `nan`.
  status: /^\s*(?:nan|(?<seconds>-?\d+\.\d+)) +(?:M-A)?:/,
  startsWithAudio: true,
  witness: { command: 'pactl', args: ['subscribe'] },
  line({ role, device, platform }) {
    if (role === 'playback') return device === undefined ? ffplayLine : undefined;
    const input = ffmpegInput(platform, device);
    if (input === undefined) return undefined;
    return {
      command: 'ffmpeg',
      args: [
        ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-fflags', 'nobuffer', ...input],
        ...['-ac', '1', '-ar', rate, '-f', 's16le', '-flush_packets', '1', 'pipe:1'],
      ],
    };
  },
};

const ffplayLine: ProgramLine = {
  command: 'ffplay',
  args: [
    ...['-hide_banner', '-loglevel', 'error', '-stats', '-nodisp', '-autoexit'],
    ...['-fflags', 'nobuffer'],
    ...['-flags', 'low_delay', '-probesize', '32', '-analyzeduration', '0'],
    // Raw audio is mono by default. FFmpeg 7 no longer accepts `-ac` here.
    ...['-f', 's16le', '-sample_rate', rate, '-i', 'pipe:0'],
  ],
};

function ffmpegInput(platform: NodeJS.Platform, device: string | undefined): string[] | undefined {
  if (platform === 'darwin') return ['-f', 'avfoundation', '-i', `:${device ?? 'default'}`];
  // DirectShow has no default.
  if (platform === 'win32') {
    return device === undefined
      ? undefined
      : ['-f', 'dshow', '-audio_buffer_size', '20', '-i', `audio=${device}`];
  }
  const format = ['-sample_rate', rate, '-channels', '1', '-fragment_size', '640'];
  return ['-f', 'pulse', ...format, '-i', device ?? 'default'];
}

/** sox passes audio on in blocks of 4,096 bytes: 128 ms with one channel, 16 ms with eight. Measured with sox 14.4.2. */
const soxChannels = 8;

const sox: ProgramBackend = {
  kind: 'program',
  name: 'sox',
  playbackMs: 50,
  hosts: ['linux', 'darwin', 'win32', 'freebsd'],
  install: 'sox (with play)',
  programs: { capture: 'sox', playback: 'play' },
  cushionMs: 40,
  captureChannels: soxChannels,
  line({ role, device }) {
    const format = ['-r', rate, '-c', '1'];
    const raw = ['-t', 'raw', '-e', 'signed', '-b', '16'];
    return {
      // With a larger buffer it loses samples.
      ...(role === 'capture'
        ? {
            command: 'sox',
            args: [
              '-q',
              '--buffer',
              '320',
              ...format,
              '-d',
              ...raw,
              '-',
              'remix',
              ...Array(soxChannels).fill('1'),
            ],
          }
        : { command: 'play', args: ['-q', '--buffer', '320', ...raw, ...format, '-'] }),
      // Without this PulseAudio delivers the second chunk to sox only after 2 s.
      env: { PULSE_LATENCY_MSEC: '20', ...(device === undefined ? {} : { AUDIODEV: device }) },
    };
  },
};

/** All audio backends. */
export const backends: readonly Backend[] = [pulse, pipewire, naudiodon, alsa, decibri, ffmpeg, sox];

/**
 * The best first. The programs of the sound server need no compiler, know the device names, and have the shortest delay.
 * decibri plays late and sometimes ends by itself. ffplay does not notice that its device is gone.
 */
const order: Readonly<Record<Role, readonly Backend[]>> = {
  capture: backends,
  playback: [pulse, pipewire, naudiodon, alsa, sox, decibri, ffmpeg],
};

/** The backends in the order in which they are tried. */
export function backendsFor(role: Role): readonly Backend[] {
  return order[role];
}

/** Whether a backend works on this kind of machine, and is part of this kind of installation. */
export function fitsHost({ hosts, kind }: Backend, { platform, arch, isExecutable }: Host): boolean {
  if (kind === 'native' && isExecutable === true) return false;
  return hosts.includes(platform) || hosts.includes(`${platform}-${arch}`);
}

/** The machine, which determines the available backends. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Whether the program is a single file: then native audio is left out. */
  readonly isExecutable?: boolean;
}

import { parseBytes, parseDuration, parseFlag, parseInteger, parsePace, parseText } from '../parse.ts';
import { define } from './define.ts';

/** `stream`. */
export const streamSettings = {
  file: define({
    flag: '--file <PATH>',
    parse: parseText,
    flagOnly: true,
    help: 'WAV to stream, or the name of a shipped one, such as hello.wav; - is standard input',
  }),
  raw: define({
    flag: '--raw <PATH>',
    parse: parseText,
    flagOnly: true,
    help: 'headerless 16 kHz s16le mono to stream; - is standard input',
  }),
  replay: define({
    flag: '--replay <DIR>',
    parse: parseText,
    flagOnly: true,
    help: 'recording to stream from: the user’s messages at their times',
  }),
  mic: define({
    flag: '--mic',
    parse: parseFlag,
    flagOnly: true,
    help: 'stream the microphone, until Ctrl-C or --duration',
  }),
  interactive: define({
    flag: '--interactive',
    parse: parseFlag,
    flagOnly: true,
    help: 'type messages and see each frame of both directions; :help lists the commands',
  }),
  play: define({
    flag: '--play',
    parse: parseFlag,
    negatable: true,
    defaultText: 'on with --mic',
    help: 'AI audio on the loudspeaker',
  }),
  inputDevice: define({
    flag: '--input-device <DEVICE>',
    defaultText: 'the system’s',
    parse: parseText,
    help: 'microphone: number of voicectl devices, or part of its name',
  }),
  outputDevice: define({
    flag: '--output-device <DEVICE>',
    defaultText: 'the system’s',
    parse: parseText,
    help: 'loudspeaker: number of voicectl devices, or part of its name',
  }),
  audioBackend: define({
    flag: '--audio-backend <NAME>',
    defaultText: 'the first that works',
    parse: parseText,
    help: 'access to the sound devices: pulse, pipewire, naudiodon, alsa, decibri, ffmpeg or sox',
  }),
  deviceTimeout: define({
    flag: '--device-timeout <DURATION>',
    default: '0',
    parse: parseDuration,
    help: 'how long to wait for a lost sound device',
  }),
  volume: define({
    flag: '--volume <PERCENT>',
    default: '100',
    parse: parseInteger(0, 400),
    help: 'loudness of the AI audio on the loudspeaker',
  }),
  bargeIn: define({
    flag: '--barge-in',
    parse: parseFlag,
    help: 'stop playback when you begin to speak; use headphones or --aec',
  }),
  aec: define({
    flag: '--aec',
    parse: parseFlag,
    help: 'remove the echo of the loudspeaker from the microphone',
  }),
  recordMic: define({
    flag: '--record-mic <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write the audio of the microphone, as WAV',
  }),
  strictFormat: define({
    flag: '--strict-format',
    parse: parseFlag,
    help: 'refuse a WAV that needs conversion',
  }),
  tokenFrom: define({
    flag: '--token-from <ENV_OR_FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'use this token instead of requesting one',
  }),
  pace: define({
    flag: '--pace <PACE>',
    default: 'realtime',
    parse: parsePace,
    help: 'realtime, max, or a factor',
  }),
  frameMs: define({
    flag: '--frame-ms <N>',
    default: '20',
    parse: parseInteger(1, 1_000),
    help: 'milliseconds of audio in one message',
  }),
  tail: define({
    flag: '--tail <DURATION>',
    defaultText: 'until the reply ends',
    parse: parseDuration,
    help: 'silence sent after the last frame',
  }),
  wait: define({
    flag: '--wait <DURATION>',
    default: '10s',
    parse: parseDuration,
    help: 'how long to wait for the start of a reply, or for an answer',
  }),
  settle: define({
    flag: '--settle <DURATION>',
    default: '1500ms',
    parse: parseDuration,
    help: 'a pause this long ends a reply',
  }),
  out: define({
    flag: '--out <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'AI audio as WAV; - is raw PCM on standard output',
  }),
  record: define({
    flag: '--record <DIR>',
    parse: parseText,
    flagOnly: true,
    help: 'record the session into this new folder, for inspect and replay',
  }),
  recordBoth: define({
    flag: '--record-both <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'both voices as one stereo WAV on one time axis: you left, the AI right',
  }),
  loop: define({ flag: '--loop', parse: parseFlag, flagOnly: true, help: 'repeat the file' }),
  duration: define({
    flag: '--duration <DURATION>',
    parse: parseDuration,
    help: 'stop after this much streaming',
  }),
  maxFrameBuffer: define({
    flag: '--max-frame-buffer <SIZE>',
    default: '64KiB',
    parse: parseBytes,
    help: 'most data that may wait in the socket before the source is paused',
  }),
};

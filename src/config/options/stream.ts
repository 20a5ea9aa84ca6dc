import { defaultSettleMs, defaultWaitMs } from '../../kernel/audio-limits.ts';
import { conformanceCommands, loadResultCommands, section, serveCommands } from '../option.ts';
import {
  audioBackendNames,
  parseBytes,
  parseChoice,
  parseDuration,
  parseInteger,
  parsePace,
  parseText,
} from '../parse.ts';
import { expectationSettings } from './expectation.ts';

const endless = 'a microphone never ends by itself; stop it with Ctrl-C or --duration';

/** The options that judge a session. */
const judgements = [...Object.keys(expectationSettings), 'html', 'baseline', 'updateBaseline'];

export const streamSettings = {
  ...section(['stream', 'load'], 'source', {
    file: {
      flag: '--file <PATH>',
      values: 'sounds',
      flagOnly: true,
      help: 'WAV to stream, or the name of an included one, such as hello.wav; - reads standard input',
    },
  }),
  ...section(['stream'], 'source', {
    mic: {
      flag: '--mic',
      flagOnly: true,
      help: 'stream the microphone, until Ctrl-C or --duration',
    },
    interactive: {
      without: {
        file: 'send it from within the session, with :file hello.wav',
        ...{
          raw: '',
          mic: '',
          replay: '',
          expectFile: '',
          record: '',
          recordBoth: '',
          out: '',
          recordMic: '',
          play: '',
          loop: '',
          duration: '',
          tail: '',
          wait: '',
        },
        ...Object.fromEntries(judgements.map((name) => [name, 'an interactive session is not judged'])),
      },
      flag: '--interactive',
      flagOnly: true,
      help: 'type messages and see each frame in both directions; :help lists the commands',
    },
    expectFile: {
      flag: '--expect-file <FILE>',
      path: 'script',
      flagOnly: true,
      help: 'run this conversation (YAML or JSON) instead of --file: when each turn is spoken and what must follow it',
    },
    replay: {
      flag: '--replay <DIR>',
      path: 'read',
      flagOnly: true,
      help: 'recording to stream, with the user’s messages at their original times',
    },
    raw: {
      flag: '--raw <PATH>',
      flagOnly: true,
      help: 'headerless 16 kHz s16le mono to stream; - reads standard input',
    },
    loop: {
      without: { mic: endless, expectFile: 'a conversation has an end' },
      flag: '--loop',
      flagOnly: true,
      help: 'repeat the file',
    },
    strictFormat: {
      flag: '--strict-format',
      help: 'refuse a WAV that needs conversion',
    },
  }),
  ...section(['stream'], 'pace', {
    pace: {
      without: { mic: 'a microphone has its own pace' },
      flag: '--pace <PACE>',
      default: 'realtime',
      parse: parsePace,
      values: ['realtime', 'max'],
      help: 'realtime, max, or a factor',
    },
    tail: {
      without: { mic: endless, expectFile: 'a conversation has pauses of its own' },
      flag: '--tail <DURATION>',
      defaultText: 'until the reply ends',
      parse: parseDuration,
      help: 'silence sent after the last frame',
    },
  }),
  ...section(['stream', ...conformanceCommands, 'load'], 'pace', {
    wait: {
      flag: '--wait <DURATION>',
      default: `${defaultWaitMs / 1_000}s`,
      parse: parseDuration,
      help: 'time to wait for a reply to start, or for a response',
    },
  }),
  ...section(['stream', 'load'], 'pace', {
    settle: {
      flag: '--settle <DURATION>',
      default: `${defaultSettleMs}ms`,
      parse: parseDuration,
      help: 'pause after which a reply counts as ended',
    },
  }),
  ...section(['stream'], 'pace', {
    duration: {
      flag: '--duration <DURATION>',
      parse: parseDuration,
      help: 'stop after streaming for this long',
    },
    frameMs: {
      flag: '--frame-ms <N>',
      default: '20',
      parse: parseInteger(1, 1_000),
      help: 'milliseconds of audio in one message',
    },
    maxFrameBuffer: {
      flag: '--max-frame-buffer <SIZE>',
      default: '64KiB',
      parse: parseBytes,
      help: 'maximum data buffered in the socket before the source is paused',
    },
  }),
  ...section(['stream'], 'sound', {
    play: {
      flag: '--play',
      negatable: true,
      defaultText: 'on with --mic',
      help: 'play AI audio on the loudspeaker',
    },
  }),
  ...section(['stream', 'audio'], 'sound', {
    inputDevice: {
      flag: '--input-device <DEVICE>',
      defaultText: 'chosen by the system',
      help: 'microphone: its number in voicectl audio, or part of its name',
    },
    outputDevice: {
      flag: '--output-device <DEVICE>',
      defaultText: 'chosen by the system',
      help: 'loudspeaker: its number in voicectl audio, or part of its name',
    },
    audioBackend: {
      flag: '--audio-backend <NAME>',
      defaultText: 'the first that works',
      parse: parseChoice(audioBackendNames),
      help: `audio backend for the sound devices: ${audioBackendNames.join(', ')}`,
    },
  }),
  ...section(['stream'], 'sound', {
    volume: {
      flag: '--volume <PERCENT>',
      default: '100',
      parse: parseInteger(0, 400),
      help: 'volume of the AI audio on the loudspeaker',
    },
    bargeIn: {
      flag: '--barge-in',
      help: 'stop playback when you start to speak; use headphones or --aec',
    },
    aec: {
      flag: '--aec',
      help: 'remove the echo of the loudspeaker from the microphone',
    },
    soundTimeout: {
      flag: '--sound-timeout <DURATION>',
      old: 'device-timeout',
      default: '0',
      parse: parseDuration,
      help: 'time to wait for a lost sound device to return',
    },
  }),
  ...section(['stream'], 'files', {
    out: {
      flag: '--out <FILE>',
      path: 'written',
      parse: parseText,
      flagOnly: true,
      help: 'write the AI audio as WAV; - writes raw PCM to standard output',
    },
    record: {
      flag: '--record <DIR>',
      flagOnly: true,
      help: 'record the session into this new folder, for inspect and replay',
    },
    recordBoth: {
      flag: '--record-both <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write both voices as a stereo WAV on one time axis: you left, the AI right',
    },
    recordMic: {
      needs: { mic: '' },
      flag: '--record-mic <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write the microphone audio as WAV',
    },
  }),
  ...section(['stream'], 'service', {
    tokenFrom: {
      flag: '--token-from <ENV_OR_FILE>',
      flagOnly: true,
      help: 'use this token instead of requesting one',
    },
  }),
};

export const inspectSettings = {
  ...section(['inspect'], 'print', {
    swap: {
      flag: '--swap',
      flagOnly: true,
      help: 'read a stereo WAV with the AI left and the user right',
    },
  }),
  ...section(['inspect', 'stream', 'check', 'drill', 'compare', ...loadResultCommands], 'files', {
    html: {
      flag: '--html <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write the result as a self-contained HTML page',
    },
  }),
  ...section(['inspect'], 'files', {
    scenarioOut: {
      flag: '--scenario-out <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write what the service did as a scenario for serve --scenario, with its replies as WAVs beside it',
    },
    har: {
      flag: '--har <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write an HTTP archive (HAR 1.2) with the token request and the WebSocket messages',
    },
  }),
  ...section([...serveCommands, 'proxy', 'stream', 'check', 'drill', 'load', 'inspect'], 'screen', {
    ascii: {
      flag: '--ascii',
      defaultText: 'if the locale is not UTF-8',
      flagOnly: true,
      help: 'draw with ASCII characters only',
    },
  }),
};

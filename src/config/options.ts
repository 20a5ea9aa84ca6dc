import {
  type Parse,
  parseApiVersion,
  parseBytes,
  parseChoice,
  parseDuration,
  parseFactor,
  parseFlag,
  parseInteger,
  parsePace,
  parseProbability,
  parseText,
  parseUrl,
} from './parse.ts';

/** One setting: its flag, where else it may come from, how it is read, and what it does. */
interface OptionSpec<T> {
  /** As Commander takes it: `--name <VALUE>`, `--name [VALUE]`, or `--name` for a switch. */
  flag: string;
  help: string;
  parse: Parse<T>;
  env?: string;
  /** As it would be written on the command line. */
  default?: string;
  /** Shown as the default where it is not a value of its own. */
  defaultText?: string;
  /** Given several times, the values add up. */
  repeatable?: true;
  /** What `--name` alone means, where the value is optional. */
  preset?: string;
  /** A switch with an opposite, `--no-NAME`. */
  negatable?: true;
  /** Never read from a config file: it makes sense for one command only. */
  flagOnly?: true;
}

const define = <const S extends OptionSpec<unknown>>(spec: S) => spec;

/** Every setting of every command. Flags, environment, config keys, help and the README's tables come from here. */
export const options = {
  // Where it connects.
  baseUrl: define({
    flag: '--base-url <URL>',
    env: 'VOICECTL_BASE_URL',
    default: 'http://127.0.0.1:8787',
    parse: parseUrl('http:', 'https:'),
    help: 'HTTP address of the service',
  }),
  wsUrl: define({
    flag: '--ws-url <URL>',
    env: 'VOICECTL_WS_URL',
    defaultText: 'the host of --base-url',
    parse: parseUrl('ws:', 'wss:'),
    help: 'WebSocket address of the service',
  }),
  apiVersion: define({
    flag: '--api-version <VERSION>',
    defaultText: 'the unversioned path',
    parse: parseApiVersion,
    help: 'use the versioned token path, such as v1',
  }),
  local: define({
    flag: '--local',
    parse: parseFlag,
    flagOnly: true,
    help: 'start an emulator inside the process for this one command',
  }),
  allowPlaintext: define({
    flag: '--allow-plaintext',
    parse: parseFlag,
    help: 'let a key go over plain HTTP to a host that is not loopback',
  }),
  ca: define({
    flag: '--ca <FILE>',
    env: 'VOICECTL_CA',
    defaultText: 'the built-in authorities, and NODE_EXTRA_CA_CERTS',
    parse: parseText,
    help: 'trust the certificates in this PEM file, and no others',
  }),
  apiKey: define({
    flag: '--api-key <KEY>',
    env: 'VOICECTL_API_KEY',
    parse: parseText,
    help: 'API key; as a flag for a loopback target only',
  }),
  apiKeyFile: define({
    flag: '--api-key-file <FILE>',
    parse: parseText,
    help: 'file that holds the API key; - is standard input',
  }),
  device: define({
    flag: '--device <ID>',
    env: 'VOICECTL_DEVICE',
    defaultText: 'voicectl-HOSTNAME',
    parse: parseText,
    help: 'device identifier sent for the token',
  }),
  profile: define({
    flag: '--profile <NAME>',
    env: 'VOICECTL_PROFILE',
    parse: parseText,
    flagOnly: true,
    help: 'settings under profiles.NAME of the config file',
  }),
  config: define({
    flag: '--config <FILE>',
    env: 'VOICECTL_CONFIG',
    defaultText: 'voicectl.config.yaml or .json here, then the user’s own',
    parse: parseText,
    flagOnly: true,
    help: 'config file',
  }),
  retries: define({
    flag: '--retries <N>',
    default: '4',
    parse: parseInteger(0, 100),
    help: 'further attempts after a rate limit or a failed connection',
  }),
  timeout: define({
    flag: '--timeout <DURATION>',
    parse: parseDuration,
    help: 'limit for the whole command',
  }),

  // What it prints.
  output: define({
    flag: '--output <FORM>',
    defaultText: 'tui on a terminal, else plain',
    parse: parseChoice(['tui', 'plain', 'json']),
    help: 'tui (stream and serve, on a terminal only), plain or json',
  }),
  json: define({ flag: '--json', parse: parseFlag, flagOnly: true, help: 'short for --output json' }),
  color: define({
    flag: '--no-color',
    parse: parseFlag,
    flagOnly: true,
    help: 'no colour, as with NO_COLOR',
  }),
  quiet: define({ flag: '-q, --quiet', parse: parseFlag, flagOnly: true, help: 'warnings and errors only' }),
  verbose: define({ flag: '-v, --verbose', parse: parseFlag, flagOnly: true, help: 'more detail' }),
  debug: define({ flag: '--debug', parse: parseFlag, flagOnly: true, help: 'a stack with each error' }),

  // The emulator.
  host: define({
    flag: '--host <ADDRESS>',
    default: '127.0.0.1',
    parse: parseText,
    help: 'address to listen on; beyond loopback needs accepted keys',
  }),
  port: define({
    flag: '--port <N>',
    default: '8787',
    parse: parseInteger(0, 65_535),
    help: 'port to listen on; 0 takes a free one',
  }),
  acceptKey: define({
    flag: '--accept-key <KEY>',
    parse: parseText,
    repeatable: true,
    defaultText: 'any',
    help: 'accept this API key only (repeatable)',
  }),
  acceptKeyFile: define({
    flag: '--accept-key-file <FILE>',
    parse: parseText,
    help: 'accept the API keys in this file, one a line',
  }),
  reply: define({
    flag: '--reply <MODE>',
    default: 'parrot',
    parse: parseText,
    help: 'what the AI says: parrot, echo, tone, silence, file:PATH, exec:COMMAND, module:PATH or replay:DIR',
  }),
  speed: define({
    flag: '--speed <FACTOR>',
    default: '1',
    parse: parseFactor,
    help: 'how fast a recording is replayed: 2 is twice as fast',
  }),
  dialect: define({
    flag: '--dialect <FILE>',
    parse: parseText,
    help: 'choices that the specification leaves open, as YAML or JSON',
  }),
  scenario: define({
    flag: '--scenario <FILE>',
    parse: parseText,
    help: 'what the service does, step by step, as YAML; or the name of a shipped one, such as barge-in',
  }),
  rateLimit: define({
    flag: '--rate-limit <N>',
    default: '60',
    parse: parseInteger(1, 1_000_000),
    help: 'token requests per device and minute',
  }),
  maxConnections: define({
    flag: '--max-connections <N>',
    default: '10',
    parse: parseInteger(1, 1_000_000),
    help: 'connections per device',
  }),
  seed: define({
    flag: '--seed <N>',
    parse: parseInteger(0, Number.MAX_SAFE_INTEGER),
    help: 'make the emulator’s own choices the same in each run',
  }),
  fault: define({
    flag: '--fault <FAULT>',
    parse: parseText,
    repeatable: true,
    help: 'start with this fault, such as token-slow or close:code=1012,after=2s (repeatable); see emulator fault list',
  }),
  allowHost: define({
    flag: '--allow-host <NAME>',
    parse: parseText,
    repeatable: true,
    help: 'serve requests for this host name too (repeatable)',
  }),
  allowOrigin: define({
    flag: '--allow-origin <ORIGIN>',
    parse: parseText,
    repeatable: true,
    help: 'serve web pages of this origin too (repeatable)',
  }),
  tls: define({
    flag: '--tls',
    parse: parseFlag,
    help: 'HTTPS and WSS, with a certificate that is made at start unless --cert gives one',
  }),
  cert: define({
    flag: '--cert <FILE>',
    parse: parseText,
    help: 'certificate of this host, or chain, as PEM',
  }),
  key: define({
    flag: '--key <FILE>',
    parse: parseText,
    help: 'private key of --cert, as PEM without a passphrase',
  }),
  certOut: define({
    flag: '--cert-out <FILE>',
    parse: parseText,
    help: 'write the certificate to this file, for clients to trust',
  }),
  readyFile: define({
    flag: '--ready-file <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write the URLs to this file, as JSON, once it listens',
  }),

  // token
  decode: define({
    flag: '--decode',
    parse: parseFlag,
    flagOnly: true,
    help: 'print header and claims, as JSON, in place of the token',
  }),
  curl: define({
    flag: '--curl',
    parse: parseFlag,
    flagOnly: true,
    help: 'print the equivalent curl command; asks for nothing',
  }),

  // stream
  file: define({
    flag: '--file <PATH>',
    parse: parseText,
    flagOnly: true,
    help: 'WAV to stream; - is standard input',
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
    help: 'recording whose user’s audio to stream, with its messages and timing',
  }),
  mic: define({
    flag: '--mic',
    parse: parseFlag,
    flagOnly: true,
    help: 'stream the microphone, until Ctrl-C or --duration',
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
    help: 'way to the sound devices: naudiodon, pulse, pipewire, alsa, decibri, ffmpeg or sox',
  }),
  deviceTimeout: define({
    flag: '--device-timeout <DURATION>',
    default: '0',
    parse: parseDuration,
    help: 'how long a sound device that was lost is waited for',
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
    help: 'stop what is being played when you begin to speak; use headphones',
  }),
  recordMic: define({
    flag: '--record-mic <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'what the microphone sent, as WAV',
  }),
  strictFormat: define({
    flag: '--strict-format',
    parse: parseFlag,
    help: 'refuse a WAV that would have to be converted',
  }),
  tokenFrom: define({
    flag: '--token-from <ENV_OR_FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'use this token in place of asking for one',
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
    help: 'audio in one message',
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
    help: 'how long to wait for a reply that has not begun',
  }),
  settle: define({
    flag: '--settle <DURATION>',
    default: '1500ms',
    parse: parseDuration,
    help: 'a reply that has paused this long has ended',
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
    help: 'how much may wait in the socket before the source is paused',
  }),

  // inspect
  html: define({
    flag: '--html <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write a page with both voices, turns, gaps and events; it needs nothing else',
  }),
  har: define({
    flag: '--har <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write an HTTP archive (HAR 1.2) with the token request and the WebSocket messages',
  }),
  ascii: define({
    flag: '--ascii',
    defaultText: 'where the locale is not UTF-8',
    parse: parseFlag,
    flagOnly: true,
    help: 'draw with ASCII characters only',
  }),

  // Control of a running emulator.
  controlSecretFile: define({
    flag: '--control-secret-file <FILE>',
    defaultText: 'VOICECTL_CONTROL_SECRET',
    parse: parseText,
    help: 'file with the secret of the control API, for an emulator beyond loopback',
  }),
  onStream: define({
    flag: '--on-stream <N>',
    defaultText: 'all',
    parse: parseInteger(1, Number.MAX_SAFE_INTEGER),
    flagOnly: true,
    help: 'the stream of this number only',
  }),
  onDevice: define({
    flag: '--on-device <ID>',
    defaultText: 'all',
    parse: parseText,
    flagOnly: true,
    help: 'streams of this device only',
  }),
  follow: define({ flag: '--follow', parse: parseFlag, flagOnly: true, help: 'show events as they happen' }),
  type: define({
    flag: '--type <TYPE>',
    defaultText: 'all',
    parse: parseText,
    flagOnly: true,
    help: 'events of this type only',
  }),
  limit: define({
    flag: '--limit <N>',
    default: '1000',
    parse: parseInteger(1, 10_000),
    flagOnly: true,
    help: 'at most this many events, the newest',
  }),
  times: define({
    flag: '--times <N>',
    defaultText: 'until it is cleared',
    parse: parseInteger(1, Number.MAX_SAFE_INTEGER),
    flagOnly: true,
    help: 'the fault strikes this often',
  }),
  once: define({ flag: '--once', parse: parseFlag, flagOnly: true, help: 'short for --times 1' }),
  probability: define({
    flag: '--probability <P>',
    defaultText: '1',
    parse: parseProbability,
    flagOnly: true,
    help: 'chance of the fault at each opportunity',
  }),
  status: define({
    flag: '--status <STATE>',
    parse: parseChoice(['listening', 'speaking']),
    flagOnly: true,
    help: 'send a status message: listening or speaking',
  }),
  errorCode: define({
    flag: '--error-code <CODE>',
    parse: parseText,
    flagOnly: true,
    help: 'send an error message with this code',
  }),
  message: define({
    flag: '--message <TEXT>',
    defaultText: 'the code',
    parse: parseText,
    flagOnly: true,
    help: 'text of the error message',
  }),
  code: define({
    flag: '--code <N>',
    default: '1000',
    parse: parseInteger(1000, 4999),
    flagOnly: true,
    help: 'close code',
  }),
  reason: define({ flag: '--reason <TEXT>', parse: parseText, flagOnly: true, help: 'close reason' }),

  // Expectations.
  expectAudio: define({
    flag: '--expect-audio [DURATION]',
    parse: parseDuration,
    preset: '0',
    help: 'fail without (this much) AI audio',
  }),
  expectAudible: define({
    flag: '--expect-audible [DURATION]',
    parse: parseDuration,
    preset: '0',
    help: 'fail without (this much) AI audio that can be heard, louder than −60 dBFS',
  }),
  maxAudio: define({
    flag: '--max-audio <DURATION>',
    parse: parseDuration,
    help: 'fail when there is more AI audio than this',
  }),
  maxFirstAudio: define({
    flag: '--max-first-audio <DURATION>',
    parse: parseDuration,
    help: 'fail when the reply begins later than this after the end of speech',
  }),
  expectEvent: define({
    flag: '--expect-event <KIND>',
    parse: parseText,
    repeatable: true,
    help: 'fail without a service message of this kind (repeatable)',
  }),
  forbidEvent: define({
    flag: '--forbid-event <KIND>',
    parse: parseText,
    repeatable: true,
    help: 'fail on a service message of this kind (repeatable)',
  }),
  maxGap: define({
    flag: '--max-gap <DURATION>',
    parse: parseDuration,
    help: 'fail when a reply pauses for longer than this',
  }),
  maxJitter: define({
    flag: '--max-jitter <DURATION>',
    parse: parseDuration,
    help: 'fail when the 95th percentile of the jitter is above this',
  }),
  expectClose: define({
    flag: '--expect-close <CODE>',
    parse: parseInteger(1000, 4999),
    help: 'fail unless the stream closes with this code',
  }),
  expectFile: define({
    flag: '--expect-file <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'a whole conversation, YAML or JSON: what is said when, and what must follow; in place of --file',
  }),
  repeat: define({
    flag: '--repeat <N>',
    default: '1',
    parse: parseInteger(1, 10_000),
    help: 'hold this many sessions one after the other, and tell how the metrics are spread',
  }),
  warmup: define({
    flag: '--warmup <N>',
    default: '0',
    parse: parseInteger(0, 1_000),
    help: 'sessions before those that do not count',
  }),
  junit: define({
    flag: '--junit <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write the verdicts in the form that pipelines read',
  }),
};

export type OptionName = keyof typeof options;

type ValueOf<S> = S extends { parse: Parse<infer T> } ? (S extends { repeatable: true } ? T[] : T) : never;
type IsCertain<S> = S extends { default: string } | { repeatable: true } ? true : false;

/** The values of some settings: certain where there is a default, else possibly undefined. */
export type Settings<Names extends OptionName> = {
  [Name in Names]: IsCertain<(typeof options)[Name]> extends true
    ? ValueOf<(typeof options)[Name]>
    : ValueOf<(typeof options)[Name]> | undefined;
};

/** The flag of a setting, as it is typed. */
export function flagOf(name: OptionName): string {
  return /--[\w-]+/.exec(options[name].flag)?.[0] ?? '';
}

/** The table's entry, without what is special to it. */
export function optionSpec(name: OptionName): OptionSpec<unknown> {
  return options[name];
}

export const connectionOptions = [
  'baseUrl',
  'wsUrl',
  'apiVersion',
  'local',
  'allowPlaintext',
  'ca',
  'apiKey',
  'apiKeyFile',
  'device',
  'retries',
  'timeout',
] as const satisfies OptionName[];
export const generalOptions = [
  'config',
  'profile',
  'output',
  'json',
  'color',
  'quiet',
  'verbose',
  'debug',
] as const satisfies OptionName[];
export const emulatorOptions = [
  'reply',
  'speed',
  'dialect',
  'scenario',
  'acceptKey',
  'acceptKeyFile',
  'rateLimit',
  'maxConnections',
  'seed',
  'fault',
  'allowHost',
  'allowOrigin',
] as const satisfies OptionName[];
const expectationOptions = [
  'expectAudio',
  'expectAudible',
  'maxAudio',
  'maxFirstAudio',
  'maxGap',
  'maxJitter',
  'expectEvent',
  'forbidEvent',
  'expectClose',
  'expectFile',
  'repeat',
  'warmup',
  'junit',
] as const satisfies OptionName[];

/** Which sound devices, and by which way. */
export const deviceOptions = ['inputDevice', 'outputDevice', 'audioBackend'] as const satisfies OptionName[];

export const streamOptions = [
  'file',
  'raw',
  'replay',
  'mic',
  'play',
  ...deviceOptions,
  'deviceTimeout',
  'volume',
  'bargeIn',
  'recordMic',
  ...connectionOptions,
  'reply',
  'tokenFrom',
  'strictFormat',
  'pace',
  'frameMs',
  'tail',
  'wait',
  'settle',
  'out',
  'record',
  'loop',
  'duration',
  'maxFrameBuffer',
  'ascii',
  ...expectationOptions,
] as const satisfies OptionName[];

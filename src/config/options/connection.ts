import { conformanceCommands, controlCommands, section, sessionCommands } from '../option.ts';
import { parseApiVersion, parseChoice, parseDuration, parseInteger, parseKey, parseUrl } from '../parse.ts';

const needsNoKey = 'the local emulator needs no key';

export const connectionSettings = {
  ...section([...sessionCommands, ...conformanceCommands], 'service', {
    local: {
      flag: '--local',
      flagOnly: true,
      help: 'start an emulator in this process, for this command only',
    },
  }),
  ...section([...sessionCommands, ...conformanceCommands, 'load', 'doctor', ...controlCommands], 'service', {
    baseUrl: {
      without: { local: '' },
      flag: '--base-url <URL>',
      env: 'VOICECTL_BASE_URL',
      default: 'http://127.0.0.1:8787',
      parse: parseUrl('http:', 'https:'),
      help: 'HTTP address of the service',
    },
  }),
  ...section([...sessionCommands, ...conformanceCommands, 'load', 'doctor'], 'service', {
    wsUrl: {
      without: { local: '' },
      flag: '--ws-url <URL>',
      env: 'VOICECTL_WS_URL',
      defaultText: 'the host of --base-url',
      parse: parseUrl('ws:', 'wss:'),
      help: 'WebSocket address of the service',
    },
  }),
  ...section([...sessionCommands, 'drill', 'exec'], 'service', {
    device: {
      flag: '--device <ID>',
      env: 'VOICECTL_DEVICE',
      defaultText: 'voicectl-HOSTNAME',
      help: 'deviceId of token requests; drill without a command expects only this device (default: any)',
    },
  }),
  ...section([...sessionCommands, ...conformanceCommands, 'load', 'mcp'], 'service', {
    apiKeyFile: {
      without: { local: needsNoKey },
      flag: '--api-key-file <FILE>',
      help: 'read the API key from this file; - reads standard input',
    },
  }),
  ...section([...sessionCommands, ...conformanceCommands, 'load'], 'service', {
    apiKey: {
      without: { local: needsNoKey, apiKeyFile: '' },
      flag: '--api-key <KEY>',
      secret: true,
      env: 'VOICECTL_API_KEY',
      parse: parseKey,
      help: 'API key; the flag is accepted for loopback targets only',
    },
  }),
  ...section(sessionCommands, 'service', {
    retries: {
      flag: '--retries <N>',
      default: '4',
      parse: parseInteger(0, 100),
      help: 'number of retries after a rate limit or a failed connection',
    },
  }),
  ...section([...sessionCommands, ...conformanceCommands, 'load', 'doctor', ...controlCommands], 'service', {
    timeout: {
      flag: '--timeout <DURATION>',
      parse: parseDuration,
      help: 'time limit for the whole command',
    },
  }),
  ...section([...sessionCommands, 'load', 'doctor'], 'service', {
    apiVersion: {
      flag: '--api-version <VERSION>',
      defaultText: 'the unversioned path',
      parse: parseApiVersion,
      help: 'use the token path of this version, such as v1',
    },
  }),
  ...section(
    [
      ...sessionCommands,
      ...conformanceCommands,
      'load',
      'doctor',
      'proxy',
      'exec',
      'mcp',
      ...controlCommands,
    ],
    'service',
    {
      ca: {
        without: { local: 'the local emulator needs no certificate' },
        flag: '--ca <FILE>',
        env: 'VOICECTL_CA',
        defaultText: 'the built-in authorities plus NODE_EXTRA_CA_CERTS',
        help: 'trust only the certificates in this PEM file',
      },
    },
  ),
  ...section([...sessionCommands, ...conformanceCommands, 'load', 'doctor'], 'service', {
    allowPlaintext: {
      flag: '--allow-plaintext',
      help: 'allow plain HTTP to a host that is not loopback',
    },
  }),
  ...section('every', 'general', {
    config: {
      flag: '--config <FILE>',
      env: 'VOICECTL_CONFIG',
      defaultText: 'voicectl.config.yaml or .json here, then in the user’s config folder',
      flagOnly: true,
      help: 'read this config file',
    },
    profile: {
      flag: '--profile <NAME>',
      env: 'VOICECTL_PROFILE',
      values: 'profiles',
      flagOnly: true,
      help: 'use the settings under profiles.NAME in the config file',
    },
  }),
};

export const outputSettings = {
  ...section('every', 'general', {
    output: {
      flag: '--output <FORM>',
      defaultText: 'tui on a terminal, else plain',
      parse: parseChoice(['tui', 'plain', 'json']),
      help: 'tui, plain or json; tui is the screen of stream, serve, proxy, check, drill and load, and needs a terminal',
    },
    json: {
      flag: '--json',
      flagOnly: true,
      help: 'short for --output json',
    },
    color: {
      flag: '--no-color',
      flagOnly: true,
      help: 'turn colour off, like NO_COLOR',
    },
    quiet: {
      flag: '-q, --quiet',
      flagOnly: true,
      help: 'print warnings and errors only',
    },
    verbose: {
      flag: '-v, --verbose',
      flagOnly: true,
      help: 'print more detail',
    },
    debug: {
      flag: '--debug',
      flagOnly: true,
      help: 'print a stack trace with each error',
    },
  }),
};

export const tokenSettings = {
  ...section(['token'], 'print', {
    decode: {
      flag: '--decode',
      flagOnly: true,
      help: 'print the header and claims as JSON instead of the token',
    },
    curl: {
      without: {
        local: 'that emulator stops when the command ends',
        json: 'a command is not JSON',
        decode: 'no token is requested',
      },
      flag: '--curl',
      flagOnly: true,
      help: 'print the equivalent curl command; send nothing',
    },
  }),
};

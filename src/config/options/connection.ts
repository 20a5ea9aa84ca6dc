import { parseApiVersion, parseDuration, parseFlag, parseInteger, parseText, parseUrl } from '../parse.ts';
import { define } from './define.ts';

/** Where it connects. */
export const connectionSettings = {
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
    help: 'allow plain HTTP to a host that is not loopback',
  }),
  ca: define({
    flag: '--ca <FILE>',
    env: 'VOICECTL_CA',
    defaultText: 'the built-in authorities, and NODE_EXTRA_CA_CERTS',
    parse: parseText,
    help: 'trust only the certificates in this PEM file',
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
    help: 'file with the API key; - is standard input',
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
};

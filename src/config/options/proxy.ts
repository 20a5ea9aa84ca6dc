import { section } from '../option.ts';
import { parseChoice, parseDuration, parseInteger, parseUrl } from '../parse.ts';

export const proxySettings = {
  ...section(['proxy', 'exec'], 'target', {
    target: {
      flag: '--target <URL>',
      parse: parseUrl('http:', 'https:'),
      help: 'HTTP address of the service behind the proxy',
    },
    targetWs: {
      flag: '--target-ws <URL>',
      defaultText: 'the host of --target',
      parse: parseUrl('ws:', 'wss:'),
      help: 'WebSocket address of that service',
    },
    targetTimeout: {
      flag: '--target-timeout <DURATION>',
      default: '10s',
      parse: parseDuration,
      help: 'time limit for the service to start its response',
    },
  }),
  ...section(['proxy'], 'listen', {
    proxyHost: {
      flag: '--host <ADDRESS>',
      default: '127.0.0.1',
      help: 'address to listen on; beyond loopback it needs --tls or --allow-plaintext',
    },
    proxyPort: {
      flag: '--port <N>',
      default: '8788',
      parse: parseInteger(0, 65_535),
      help: 'port to listen on; 0 picks a free one',
    },
  }),
  ...section(['proxy', 'exec'], 'target', {
    proxyPlaintext: {
      flag: '--allow-plaintext',
      help: 'allow plain HTTP beyond this machine, to the service and from devices',
    },
    failOn: {
      flag: '--fail-on <LEVEL>',
      parse: parseChoice(['violation', 'remark']),
      flagOnly: true,
      help: 'exit 1 if there is a violation; remark: also if there is a remark',
    },
    proxyRecord: {
      flag: '--record <DIR>',
      flagOnly: true,
      help: 'record each stream into its own subfolder of this folder, for inspect and replay',
    },
  }),
  ...section(['proxy'], 'listen', {
    proxyDuration: {
      flag: '--duration <DURATION>',
      parse: parseDuration,
      flagOnly: true,
      help: 'stop after this time',
    },
  }),
};

import { parseChoice, parseDuration, parseFlag, parseInteger, parseText, parseUrl } from '../parse.ts';
import { define } from './define.ts';

/** `proxy`. */
export const proxySettings = {
  target: define({
    flag: '--target <URL>',
    parse: parseUrl('http:', 'https:'),
    help: 'HTTP address of the service behind the proxy',
  }),
  targetWs: define({
    flag: '--target-ws <URL>',
    defaultText: 'the host of --target',
    parse: parseUrl('ws:', 'wss:'),
    help: 'WebSocket address of that service',
  }),
  targetTimeout: define({
    flag: '--target-timeout <DURATION>',
    default: '10s',
    parse: parseDuration,
    help: 'how long the service may take to begin an answer',
  }),
  proxyHost: define({
    flag: '--host <ADDRESS>',
    key: 'host',
    default: '127.0.0.1',
    parse: parseText,
    help: 'address to listen on; beyond loopback needs --tls or --allow-plaintext',
  }),
  proxyPort: define({
    flag: '--port <N>',
    key: 'port',
    default: '8788',
    parse: parseInteger(0, 65_535),
    help: 'port to listen on; 0 takes a free one',
  }),
  proxyPlaintext: define({
    flag: '--allow-plaintext',
    key: 'allowPlaintext',
    parse: parseFlag,
    help: 'allow plain HTTP beyond this machine: to the service, and for devices',
  }),
  failOn: define({
    flag: '--fail-on <LEVEL>',
    parse: parseChoice(['violation', 'remark']),
    flagOnly: true,
    help: 'exit 1 if there is a violation, or also if there is a remark',
  }),
  proxyRecord: define({
    flag: '--record <DIR>',
    key: 'record',
    parse: parseText,
    flagOnly: true,
    help: 'record each stream into a folder of its own in this one, for inspect and replay',
  }),
  proxyDuration: define({
    flag: '--duration <DURATION>',
    key: 'duration',
    parse: parseDuration,
    flagOnly: true,
    help: 'end after this long',
  }),
};

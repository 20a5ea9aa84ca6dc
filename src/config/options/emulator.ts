import { parseFactor, parseFlag, parseInteger, parseProcesses, parseText } from '../parse.ts';
import { define } from './define.ts';

/** The emulator. */
export const emulatorSettings = {
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
    help: 'settings for what the specification leaves open, as YAML or JSON',
  }),
  scenario: define({
    flag: '--scenario <FILE>',
    parse: parseText,
    help: 'script of what the service does, as YAML, or the name of a shipped one, such as barge-in',
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
    help: 'make random choices of the emulator repeatable',
  }),
  fault: define({
    flag: '--fault <FAULT>',
    parse: parseText,
    repeatable: true,
    help: 'start with this fault, such as token-slow or close:code=1012,after=2s (repeatable); see emulator fault list',
  }),
  network: define({
    flag: '--network <NETWORK>',
    parse: parseText,
    help: 'put this network beneath all connections: slow-3g, lossy-wifi …, or latency=100ms,jitter=20ms,rate=1Mbit,loss=2%',
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
    help: 'HTTPS and WSS, with a new certificate unless --cert gives one',
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
    help: 'write the certificate to this file, so that clients can trust it',
  }),
  page: define({
    flag: '--page',
    parse: parseFlag,
    negatable: true,
    defaultText: 'on',
    help: 'a page for browsers of this machine',
  }),
  open: define({
    flag: '--open',
    parse: parseFlag,
    flagOnly: true,
    help: 'show the page in the browser',
  }),
  readyFile: define({
    flag: '--ready-file <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write the URLs to this file, as JSON, once it listens',
  }),
  shared: define({
    flag: '--shared <URL>',
    env: 'VOICECTL_SHARED',
    parse: parseText,
    help: 'form one service with all emulators that use this Redis: redis://HOST:PORT, or rediss:// with TLS',
  }),
  sharedPrefix: define({
    flag: '--shared-prefix <PREFIX>',
    default: 'voicectl',
    parse: parseText,
    help: 'prefix of all keys in Redis; emulators with the same prefix form one service',
  }),
  processes: define({
    flag: '--processes <N>',
    defaultText: '1',
    parse: parseProcesses('auto'),
    help: 'run this many emulators on the port, as one service through --shared; auto: one for each processor',
  }),
};

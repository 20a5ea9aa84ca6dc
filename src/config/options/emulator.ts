import { conformanceCommands, emulatorCommands, section, serveCommands, sessionCommands } from '../option.ts';
import {
  fileInReply,
  parseFactor,
  parseInteger,
  parseProcesses,
  parseRedisUrl,
  parseReplyMode,
  replyValues,
} from '../parse.ts';

const inProcess = 'it applies to an emulator in this process';
const noMetrics = 'the processes share a port, so that metrics are refused';
const ofEmulators = 'it applies to an emulator';

export const emulatorSettings = {
  ...section(['serve', 'exec', 'stream'], 'emulator', {
    reply: {
      needs: { local: inProcess },
      without: { target: ofEmulators },
      flag: '--reply <MODE>',
      default: 'parrot',
      values: replyValues,
      parse: parseReplyMode,
      path: 'read',
      fileIn: fileInReply,
      help: 'what the AI says: parrot, echo, tone, silence, file:PATH, exec:COMMAND, module:PATH or replay:DIR',
    },
  }),
  ...section(['serve', 'exec', ...sessionCommands], 'emulator', {
    scenario: {
      needs: { local: inProcess },
      without: { target: ofEmulators },
      flag: '--scenario <FILE>',
      path: 'script',
      values: 'scenarios',
      help: 'script of what the service does: a YAML file, or the name of an included one, such as barge-in',
    },
  }),
  ...section([...emulatorCommands, ...sessionCommands, 'proxy'], 'emulator', {
    fault: {
      needs: { local: inProcess },
      flag: '--fault <FAULT>',
      values: 'faults',
      parse: async (text) => (await import('../../protocol/read-fault.ts')).readFault(text),
      repeatable: true,
      hint: '`voicectl emulator fault list` shows all faults.',
      help: 'start with this fault, such as token-slow or close:code=1012,after=2s (repeatable); see emulator fault list',
    },
  }),
  ...section([...emulatorCommands, 'stream', 'proxy'], 'emulator', {
    network: {
      needs: { local: inProcess },
      flag: '--network <NETWORK>',
      values: 'networks',
      parse: async (text) => (await import('../../protocol/read-fault.ts')).readNetwork(text),
      hint: 'Examples: slow-3g, lossy-wifi,loss=10% or latency=100ms,rate=1Mbit.',
      help: 'simulate this network on all connections: slow-3g, lossy-wifi …, or latency=100ms,jitter=20ms,rate=1Mbit,loss=2%',
    },
  }),
  ...section([...emulatorCommands, ...sessionCommands, ...conformanceCommands, 'proxy'], 'emulator', {
    dialect: {
      needs: { local: inProcess },
      flag: '--dialect <FILE>',
      help: 'settings for what the specification leaves open: a YAML or JSON file',
    },
  }),
  ...section([...emulatorCommands, 'stream'], 'emulator', {
    speed: {
      needs: { local: inProcess },
      without: { target: ofEmulators },
      flag: '--speed <FACTOR>',
      default: '1',
      parse: parseFactor,
      help: 'playback speed of a recording: 2 is twice as fast',
    },
  }),
  ...section([...emulatorCommands, ...sessionCommands, 'proxy'], 'emulator', {
    seed: {
      needs: { local: inProcess },
      flag: '--seed <N>',
      parse: parseInteger(0, Number.MAX_SAFE_INTEGER),
      help: 'make the emulator’s random choices repeatable',
    },
  }),
  ...section([...emulatorCommands, ...sessionCommands], 'emulator', {
    rateLimit: {
      needs: { local: inProcess },
      without: { target: ofEmulators },
      flag: '--rate-limit <N>',
      default: '60',
      parse: parseInteger(1, 1_000_000),
      help: 'limit of token requests per device per minute',
    },
  }),
  ...section([...emulatorCommands, 'stream'], 'emulator', {
    maxConnections: {
      needs: { local: inProcess },
      without: { target: ofEmulators },
      flag: '--max-connections <N>',
      default: '10',
      parse: parseInteger(1, 1_000_000),
      help: 'limit of connections per device',
    },
  }),
  ...section([...emulatorCommands, 'drill'], 'access', {
    acceptKey: {
      without: { target: ofEmulators },
      flag: '--accept-key <KEY>',
      secret: true,
      repeatable: true,
      defaultText: 'any',
      help: 'accept only this API key (repeatable)',
    },
    acceptKeyFile: {
      without: { target: ofEmulators },
      flag: '--accept-key-file <FILE>',
      help: 'accept the API keys in this file, one per line',
    },
  }),
  ...section([...emulatorCommands, 'drill', 'proxy'], 'access', {
    allowHost: {
      flag: '--allow-host <NAME>',
      repeatable: true,
      help: 'also serve requests for this host name (repeatable)',
    },
    allowOrigin: {
      flag: '--allow-origin <ORIGIN>',
      repeatable: true,
      help: 'also allow web pages of this origin (repeatable)',
    },
  }),
  ...section([...serveCommands, 'drill'], 'listen', {
    port: {
      flag: '--port <N>',
      default: '8787',
      parse: parseInteger(0, 65_535),
      help: 'port to listen on; 0 picks a free one',
    },
    host: {
      flag: '--host <ADDRESS>',
      default: '127.0.0.1',
      help: 'address to listen on; beyond loopback it needs accepted keys',
    },
  }),
  ...section([...serveCommands, 'proxy'], 'listen', {
    readyFile: {
      flag: '--ready-file <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write the URLs to this file as JSON once the service listens',
    },
  }),
  ...section([...emulatorCommands, 'drill', 'proxy'], 'tls', {
    tls: {
      flag: '--tls',
      help: 'serve HTTPS and WSS, with a self-signed certificate unless --cert is set',
    },
  }),
  ...section([...serveCommands, 'drill', 'proxy'], 'tls', {
    cert: {
      needs: { tlsKey: '' },
      flag: '--cert <FILE>',
      help: 'certificate (or chain) of this host, as PEM',
    },
    tlsKey: {
      needs: { cert: '' },
      flag: '--tls-key <FILE>',
      old: 'key',
      help: 'private key of --cert, as PEM without a passphrase',
    },
    certOut: {
      flag: '--cert-out <FILE>',
      path: 'written',
      help: 'write the certificate to this file, so that devices can trust it',
    },
  }),
  ...section([...serveCommands, 'proxy'], 'screen', {
    page: {
      flag: '--page',
      negatable: true,
      defaultText: 'on',
      help: 'serve a page for browsers on this machine',
    },
  }),
  ...section([...serveCommands, 'proxy', 'check', 'drill'], 'screen', {
    open: {
      flag: '--open',
      flagOnly: true,
      help: 'open the page in the browser',
    },
  }),
  ...section(serveCommands, 'shared', {
    shared: {
      flag: '--shared <URL>',
      env: 'VOICECTL_SHARED',
      secret: true,
      parse: parseRedisUrl,
      help: 'form one service with all emulators that use this Redis: redis://HOST:PORT, or rediss:// with TLS',
    },
    sharedPrefix: {
      needs: { shared: 'an emulator alone has no keys in Redis' },
      flag: '--shared-prefix <PREFIX>',
      default: 'voicectl',
      help: 'prefix of all keys in Redis; emulators with the same prefix form one service',
    },
    processes: {
      needs: { shared: 'otherwise the processes would know nothing of each other' },
      without: { metricsAllow: noMetrics, metricsDevices: noMetrics },
      flag: '--processes <N>',
      defaultText: '1',
      parse: parseProcesses('auto'),
      help: 'run this many emulators on the port, as one service through --shared; auto: one per processor',
    },
  }),
};

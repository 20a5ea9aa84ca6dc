import { controlCommands, section, serveCommands, streamControlCommands } from '../option.ts';
import { parseChoice, parseHost, parseInteger, parseProbability } from '../parse.ts';

export const controlSettings = {
  ...section([...serveCommands, 'proxy', ...controlCommands], 'listen', {
    controlSecretFile: {
      flag: '--control-secret-file <FILE>',
      defaultText: 'from VOICECTL_CONTROL_SECRET',
      help: 'read the control API secret from this file, for an emulator beyond loopback or behind a proxy',
    },
  }),
  ...section([...serveCommands, 'proxy', 'load'], 'metrics', {
    metricsAllow: {
      flag: '--metrics-allow <ADDRESS>',
      repeatable: true,
      help: 'let this address or network, such as 192.168.1.0/24, scrape the metrics (repeatable)',
    },
  }),
  ...section([...serveCommands, 'proxy'], 'metrics', {
    metricsDevices: {
      flag: '--metrics-devices',
      help: 'name up to 1,000 devices in the metrics; count all others together',
    },
  }),
  ...section(['load'], 'metrics', {
    metricsPort: {
      flag: '--metrics <PORT>',
      parse: parseInteger(0, 65_535),
      flagOnly: true,
      help: 'serve the metrics on this port during the run; 0 picks a free one',
    },
  }),
  ...section([...streamControlCommands, 'emulator fault'], 'streams', {
    onStream: {
      flag: '--on-stream <N>',
      defaultText: 'all',
      parse: parseInteger(1, Number.MAX_SAFE_INTEGER),
      flagOnly: true,
      help: 'limit to the stream with this number',
    },
    onDevice: {
      flag: '--on-device <ID>',
      defaultText: 'all',
      flagOnly: true,
      help: 'limit to streams of this device',
    },
  }),
  ...section(['emulator journal'], 'print', {
    follow: {
      flag: '--follow',
      flagOnly: true,
      help: 'show events as they happen',
    },
    type: {
      flag: '--type <TYPE>',
      defaultText: 'all',
      values: 'journal',
      flagOnly: true,
      help: 'show only events of this type',
    },
    limit: {
      without: { follow: 'it shows no earlier events' },
      flag: '--limit <N>',
      default: '1000',
      parse: parseInteger(1, 10_000),
      flagOnly: true,
      help: 'show only this many of the newest events',
    },
  }),
  ...section(['emulator fault'], 'scope', {
    times: {
      flag: '--times <N>',
      defaultText: 'until it is cleared',
      parse: parseInteger(1, Number.MAX_SAFE_INTEGER),
      flagOnly: true,
      help: 'number of times the fault strikes',
    },
    once: {
      without: { times: '' },
      flag: '--once',
      flagOnly: true,
      help: 'short for --times 1',
    },
    probability: {
      flag: '--probability <P>',
      defaultText: '1',
      parse: parseProbability,
      flagOnly: true,
      help: 'probability that the fault strikes at each opportunity',
    },
  }),
  ...section(['emulator fault'], 'print', {
    allFaults: {
      flag: '--all',
      flagOnly: true,
      help: 'list every fault with its parameters, not just the most used ones',
    },
  }),
  ...section(['emulator send'], 'message', {
    status: {
      flag: '--status <STATE>',
      parse: parseChoice(['listening', 'speaking']),
      flagOnly: true,
      help: 'send a status message: listening or speaking',
    },
    errorCode: {
      flag: '--error-code <CODE>',
      flagOnly: true,
      help: 'send an error message with this code',
    },
    message: {
      needs: { errorCode: '' },
      flag: '--message <TEXT>',
      defaultText: 'the code',
      flagOnly: true,
      help: 'text of the error message',
    },
  }),
  ...section(['emulator close'], 'message', {
    code: {
      flag: '--code <N>',
      default: '1000',
      parse: parseInteger(1000, 4999),
      flagOnly: true,
      help: 'close code',
    },
    reason: {
      flag: '--reason <TEXT>',
      flagOnly: true,
      help: 'close reason',
    },
  }),
};

export const mcpSettings = {
  ...section(['mcp'], 'reach', {
    allowTarget: {
      flag: '--allow-target <HOST>',
      parse: parseHost,
      repeatable: true,
      flagOnly: true,
      help: 'let the client reach this host, with the API key (repeatable); otherwise only this machine, without the key',
    },
    folder: {
      flag: '--folder <DIR>',
      flagOnly: true,
      help: 'let the client write recordings and sounds to this folder; otherwise to none',
    },
  }),
};

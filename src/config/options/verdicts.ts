import { comparableCommands, conformanceCommands, section } from '../option.ts';
import { parseChoice, parseDuration, parseInteger, parseUrlOrFile } from '../parse.ts';
import { parseTolerance } from '../threshold.ts';

const oneAgain = '--again runs only a part of a check';

export const checkSettings = {
  ...section(conformanceCommands, 'asked', {
    devices: {
      flag: '--device <ID>',
      env: 'VOICECTL_DEVICE',
      repeatable: true,
      defaultText: 'voicectl-HOSTNAME, and others derived from it',
      help: 'device identifier (repeatable); up to four are used',
    },
    level: {
      flag: '--level <LEVEL>',
      default: 'quick',
      parse: parseChoice(['quick', 'standard', 'full']),
      oldValues: { base: 'quick' },
      help: 'quick, standard (adds rate-limit windows, expiry and many connections) or full (standard with --exhaust)',
    },
    exhaust: {
      flag: '--exhaust',
      flagOnly: true,
      help: 'reach the rate limit, with a throwaway device',
    },
    thorough: {
      flag: '--thorough',
      flagOnly: true,
      help: 'also send what a firewall may treat as an attack: large bodies, headers and messages',
    },
  }),
  ...section(['check'], 'verdicts', {
    rule: {
      flag: '--rule <ID>',
      values: 'rules',
      repeatable: true,
      flagOnly: true,
      defaultText: 'all',
      help: 'judge only this rule, such as R12, and send only what it needs (repeatable)',
    },
    again: {
      flag: '--again <ID>',
      values: 'exchanges',
      flagOnly: true,
      without: {
        rule: oneAgain,
        junit: oneAgain,
        html: oneAgain,
        open: oneAgain,
        baseline: oneAgain,
      },
      help: 'repeat one exchange, such as E6, or the exchanges of a rule, and print them in full',
    },
  }),
  ...section(conformanceCommands, 'asked', {
    oneDevice: {
      flag: '--one-device',
      help: 'use only the first device',
    },
  }),
  ...section([...conformanceCommands, 'load'], 'print', {
    dryRun: {
      flag: '--dry-run',
      flagOnly: true,
      help: 'print the plan and its cost; send nothing',
    },
  }),
  ...section(conformanceCommands, 'asked', {
    maxRequests: {
      flag: '--max-requests <N>',
      parse: parseInteger(1, 100_000),
      help: 'send at most this many requests and connections',
    },
    wrongKey: {
      flag: '--wrong-key',
      negatable: true,
      defaultText: 'on',
      help: 'send a wrong key, only once',
    },
  }),
  ...section(['check'], 'verdicts', {
    jwks: {
      flag: '--jwks <URL_OR_FILE>',
      parse: parseUrlOrFile,
      help: 'verify the tokens with these published keys',
    },
    expected: {
      flag: '--expected <FILE>',
      help: 'file of rules that are known to fail, one per line, each with a reason',
    },
    strict: {
      flag: '--strict',
      help: 'warn and unknown count as failures',
    },
  }),
};

export const learnSettings = {
  ...section(['learn'], 'dialect', {
    dialectOut: {
      flag: '--out <FILE>',
      path: 'written',
      flagOnly: true,
      defaultText: 'standard output',
      help: 'write the dialect to this file',
    },
    merge: {
      flag: '--merge <FILE>',
      path: 'merged',
      flagOnly: true,
      help: 'keep the settings of this dialect that were not probed',
    },
    diff: {
      without: { dialectOut: 'it writes no dialect', merge: 'it writes no dialect' },
      flag: '--diff <FILE>',
      flagOnly: true,
      help: 'print the differences from this dialect instead of a dialect; exit 1 if there are any',
    },
  }),
};

export const drillSettings = {
  ...section(['drill'], 'situations', {
    situation: {
      flag: '--situation <ID>',
      old: 'drill',
      values: 'situations',
      repeatable: true,
      flagOnly: true,
      defaultText: 'all',
      help: 'run only this situation, such as D9-1012, or the situations of this rule, such as D9 (repeatable)',
    },
    list: {
      flag: '--list',
      flagOnly: true,
      help: 'print the situations; start nothing',
    },
    noticeWithin: {
      flag: '--device-timeout <DURATION>',
      flagOnly: true,
      default: '60s',
      parse: parseDuration,
      help: 'time limit for the device to connect, and to notice that the service is gone',
    },
    parallel: {
      flag: '--parallel <N>',
      default: '1',
      parse: parseInteger(1, 16),
      help: 'number of situations to run in parallel, each with its own command',
    },
  }),
};

/** For `compare`, and for commands whose results can be compared. */
export const compareSettings = {
  ...section(comparableCommands, 'verdicts', {
    baseline: {
      flag: '--baseline <FILE>',
      flagOnly: true,
      help: 'compare with the runs in this file; exit 1 if this run is worse',
    },
    updateBaseline: {
      needs: { baseline: 'it names the file to update' },
      flag: '--update-baseline',
      flagOnly: true,
      help: 'add this run to --baseline, which keeps the newest 20 runs; a run that is worse or not valid is not added',
    },
  }),
  ...section(['compare', 'load', 'load merge', 'stream'], 'verdicts', {
    tolerance: {
      needs: { baseline: 'without it there is nothing to compare' },
      flag: '--tolerance <TOLERANCE>',
      parse: parseTolerance,
      repeatable: true,
      help: 'let a figure get worse by this much, such as first-audio:p95<10% or failed<1% (repeatable)',
    },
  }),
};

import { parseChoice, parseFlag, parseInteger, parseText } from '../parse.ts';
import { define } from './define.ts';

/** `check`. */
export const checkSettings = {
  devices: define({
    flag: '--device <ID>',
    env: 'VOICECTL_DEVICE',
    key: 'device',
    parse: parseText,
    repeatable: true,
    defaultText: 'voicectl-HOSTNAME, and others made up from it',
    help: 'device identifier (repeatable); up to four are used',
  }),
  level: define({
    flag: '--level <LEVEL>',
    default: 'base',
    parse: parseChoice(['base', 'standard']),
    help: 'base, or standard with windows, expiry and many connections',
  }),
  exhaust: define({
    flag: '--exhaust',
    parse: parseFlag,
    flagOnly: true,
    help: 'reach the rate limit, with a throwaway device',
  }),
  thorough: define({
    flag: '--thorough',
    parse: parseFlag,
    flagOnly: true,
    help: 'also send what a firewall may treat as an attack: large bodies, headers and messages',
  }),
  rule: define({
    flag: '--rule <ID>',
    parse: parseText,
    repeatable: true,
    flagOnly: true,
    defaultText: 'all',
    help: 'judge only this rule, such as R12, and send only what it needs (repeatable)',
  }),
  oneDevice: define({
    flag: '--one-device',
    parse: parseFlag,
    help: 'use only the first device',
  }),
  dryRun: define({
    flag: '--dry-run',
    parse: parseFlag,
    flagOnly: true,
    help: 'print the plan and its cost; send nothing',
  }),
  maxRequests: define({
    flag: '--max-requests <N>',
    parse: parseInteger(1, 100_000),
    help: 'send at most this many requests and connections',
  }),
  wrongKey: define({
    flag: '--wrong-key',
    parse: parseFlag,
    negatable: true,
    defaultText: 'on',
    help: 'send a wrong key, once',
  }),
  jwks: define({
    flag: '--jwks <URL_OR_FILE>',
    parse: parseText,
    help: 'published keys that verify the tokens',
  }),
  expected: define({
    flag: '--expected <FILE>',
    parse: parseText,
    help: 'rules that are known to fail, one a line, each with a reason',
  }),
  strict: define({
    flag: '--strict',
    parse: parseFlag,
    help: 'warn and unknown count as failures',
  }),
};

/** `learn`. */
export const learnSettings = {
  dialectOut: define({
    flag: '--out <FILE>',
    key: 'out',
    parse: parseText,
    flagOnly: true,
    defaultText: 'standard output',
    help: 'write the dialect to a file',
  }),
  merge: define({
    flag: '--merge <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'keep the settings of this dialect that were not probed',
  }),
  diff: define({
    flag: '--diff <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'print the differences from this dialect instead of a dialect; exit 1 if there are any',
  }),
};

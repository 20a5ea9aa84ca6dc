import { parseArrival } from '../arrival.ts';
import { loadTaskNames } from '../load-tasks.ts';
import { parseChoice, parseDuration, parseInteger, parseProcesses, parseText } from '../parse.ts';
import { parseThreshold } from '../threshold.ts';
import { define } from './define.ts';
import { parseShard, parseStart } from './load-values.ts';

/** `load`. */
export const loadSettings = {
  sessions: define({
    flag: '--sessions <N>',
    default: '10',
    parse: parseInteger(1, 10_000_000),
    help: 'how many sessions arrive',
  }),
  arrival: define({
    flag: '--arrival <SCHEDULE>',
    defaultText: 'evenly over --ramp-up, else constant:10/s',
    parse: parseArrival,
    help: 'constant:R/s, poisson:R/s, ramp:A..B/s, burst:N or burst:N/DURATION',
  }),
  rampUp: define({
    flag: '--ramp-up <DURATION>',
    parse: parseDuration,
    help: 'the rate of arrivals rises to its full value during this time',
  }),
  task: define({
    flag: '--task <TASK>',
    default: 'talk',
    parse: parseChoice(loadTaskNames),
    help: 'what each session does: talk, listen, barge-in, storm or tokens',
  }),
  hold: define({
    flag: '--hold <DURATION>',
    defaultText: 'one turn; 10s for listen, 1s for storm',
    parse: parseDuration,
    help: 'how long each session goes on; a turn that has begun is completed',
  }),
  giveUp: define({
    flag: '--give-up <DURATION>',
    default: '10s',
    parse: parseDuration,
    help: 'a session that is not confirmed this long after its arrival has failed',
  }),
  deviceCount: define({
    flag: '--devices <N>',
    key: 'devices',
    defaultText: 'as few as the limits of a device allow',
    parse: parseInteger(1, 10_000_000),
    flagOnly: true,
    help: 'use at most this many devices',
  }),
  devicePrefix: define({
    flag: '--device-prefix <TEXT>',
    defaultText: 'load-START',
    parse: parseText,
    help: 'the identifiers of the devices: TEXT-1, TEXT-2 and so on',
  }),
  threshold: define({
    flag: '--threshold <THRESHOLD>',
    parse: parseThreshold,
    repeatable: true,
    help: 'exit 1 unless it holds, such as first-audio:p95<800ms or failed<1% (repeatable)',
  }),
  abortOn: define({
    flag: '--abort-on <THRESHOLD>',
    parse: parseThreshold,
    repeatable: true,
    help: 'like --threshold, and end the run as soon as it is crossed (repeatable)',
  }),
  loadProcesses: define({
    flag: '--processes <N>',
    key: 'processes',
    default: '1',
    parse: parseProcesses('auto', 'none'),
    help: 'generate the load in this many processes; auto: one for each core; none: in this one',
  }),
  shard: define({
    flag: '--shard <I/N>',
    parse: parseShard,
    flagOnly: true,
    help: 'generate part I of N of the load; needs --start-at',
  }),
  startAt: define({
    flag: '--start-at <TIME>',
    defaultText: 'now',
    parse: parseStart,
    flagOnly: true,
    help: 'start at this time: ISO 8601, or seconds since the epoch',
  }),
  loadSeed: define({
    flag: '--seed <N>',
    key: 'seed',
    defaultText: 'from the start time',
    parse: parseInteger(0, Number.MAX_SAFE_INTEGER),
    help: 'make the arrivals of poisson repeatable',
  }),
  confirm: define({
    flag: '--confirm <HOST>',
    parse: parseText,
    repeatable: true,
    flagOnly: true,
    help: 'allow load on this host, which is not loopback (repeatable)',
  }),
  resultOut: define({
    flag: '--out <FILE>',
    key: 'out',
    parse: parseText,
    flagOnly: true,
    help: 'write the whole result as JSON, for load merge',
  }),
};

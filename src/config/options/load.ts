import { parseArrival } from '../arrival.ts';
import { loadTaskNames } from '../load-tasks.ts';
import { loadResultCommands, section } from '../option.ts';
import { type Parse, parseChoice, parseDuration, parseInteger, parseProcesses } from '../parse.ts';
import { parseThreshold } from '../threshold.ts';

/** Part `number` of `of`, from 1. */
export interface Shard {
  number: number;
  of: number;
}

/** `2/8`. */
const parseShard: Parse<Shard> = (text) => {
  const [, first, second] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const [number, of] = [Number(first), Number(second)];
  if (number >= 1 && number <= of) return { number, of };
  throw new Error('expected I/N with I from 1 to N, such as 2/8');
};

/** Milliseconds since the epoch of `2026-11-22T08:00:00Z`, or of seconds since the epoch. */
const parseStart: Parse<number> = (text) => {
  const isSeconds = /^\d{9,11}(\.\d{1,3})?$/.test(text);
  const ms = isSeconds ? Number(text) * 1000 : /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return Math.round(ms);
  throw new Error('expected a time, such as 2026-11-22T08:00:00Z, or seconds since the epoch');
};

export const loadSettings = {
  ...section(['load'], 'sessions', {
    sessions: {
      flag: '--sessions <N>',
      default: '10',
      parse: parseInteger(1, 10_000_000),
      help: 'number of sessions to start',
    },
    arrival: {
      flag: '--arrival <SCHEDULE>',
      defaultText: 'evenly over --ramp-up, else constant:10/s',
      parse: parseArrival,
      help: 'constant:R/s, poisson:R/s, ramp:A..B/s, burst:N or burst:N/DURATION',
    },
    rampUp: {
      flag: '--ramp-up <DURATION>',
      parse: parseDuration,
      help: 'raise the arrival rate to its full value over this time',
    },
    task: {
      flag: '--task <TASK>',
      default: 'talk',
      parse: parseChoice(loadTaskNames),
      help: 'what each session does: talk, listen, barge-in, storm or tokens',
    },
    hold: {
      flag: '--hold <DURATION>',
      defaultText: 'one turn; 10s for listen, 1s for storm',
      parse: parseDuration,
      help: 'duration of each session; a turn in progress is completed',
    },
  }),
  ...section(['load'], 'loadDevices', {
    giveUp: {
      flag: '--give-up <DURATION>',
      default: '10s',
      parse: parseDuration,
      help: 'count a session as failed if it is not confirmed within this time of its arrival',
    },
    deviceCount: {
      flag: '--devices <N>',
      defaultText: 'as few as the limits per device allow',
      parse: parseInteger(1, 10_000_000),
      flagOnly: true,
      help: 'use at most this many devices',
    },
    devicePrefix: {
      flag: '--device-prefix <TEXT>',
      defaultText: 'load-START-RUN',
      help: 'prefix of the device identifiers: TEXT-1, TEXT-2 and so on',
    },
  }),
  ...section(loadResultCommands, 'verdicts', {
    threshold: {
      flag: '--threshold <THRESHOLD>',
      parse: parseThreshold,
      repeatable: true,
      help: 'exit 1 unless this threshold holds, such as first-audio:p95<800ms, failed<1% or unclean<1% (repeatable)',
    },
  }),
  ...section(['load'], 'verdicts', {
    abortOn: {
      flag: '--abort-on <THRESHOLD>',
      parse: parseThreshold,
      repeatable: true,
      help: 'like --threshold, but stop the run as soon as it is crossed (repeatable)',
    },
  }),
  ...section(['load'], 'processes', {
    loadProcesses: {
      flag: '--processes <N>',
      default: '1',
      parse: parseProcesses('auto', 'none'),
      help: 'generate the load in this many processes; auto: one per core; none: in this process',
    },
    shard: {
      needs: { startAt: 'all shards start at the same time' },
      flag: '--shard <I/N>',
      parse: parseShard,
      flagOnly: true,
      help: 'generate part I of N of the load; needs --start-at',
    },
    startAt: {
      flag: '--start-at <TIME>',
      defaultText: 'now',
      parse: parseStart,
      flagOnly: true,
      help: 'start at this time: ISO 8601, or seconds since the epoch',
    },
    loadSeed: {
      flag: '--seed <N>',
      defaultText: 'derived from the start time',
      parse: parseInteger(0, Number.MAX_SAFE_INTEGER),
      help: 'make poisson arrivals repeatable',
    },
  }),
  ...section(['load'], 'service', {
    confirm: {
      flag: '--confirm <HOST>',
      repeatable: true,
      flagOnly: true,
      help: 'allow load on this host beyond loopback (repeatable)',
    },
  }),
  ...section(loadResultCommands, 'files', {
    resultOut: {
      flag: '--out <FILE>',
      path: 'written',
      flagOnly: true,
      help: 'write the whole result as JSON, for load merge',
    },
  }),
};

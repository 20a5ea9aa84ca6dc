import { parseDuration, parseInteger, parseText } from '../parse.ts';
import { define } from './define.ts';

/** Expectations. */
export const expectationSettings = {
  expectAudio: define({
    flag: '--expect-audio [DURATION]',
    parse: parseDuration,
    preset: '0',
    help: 'fail without (this much) AI audio',
  }),
  expectAudible: define({
    flag: '--expect-audible [DURATION]',
    parse: parseDuration,
    preset: '0',
    help: 'fail without (this much) AI audio that can be heard, louder than −60 dBFS',
  }),
  maxAudio: define({
    flag: '--max-audio <DURATION>',
    parse: parseDuration,
    help: 'fail when there is more AI audio than this',
  }),
  maxFirstAudio: define({
    flag: '--max-first-audio <DURATION>',
    parse: parseDuration,
    help: 'fail when the reply begins later than this after the end of speech',
  }),
  expectEvent: define({
    flag: '--expect-event <KIND>',
    parse: parseText,
    repeatable: true,
    help: 'fail without a service message of this kind (repeatable)',
  }),
  forbidEvent: define({
    flag: '--forbid-event <KIND>',
    parse: parseText,
    repeatable: true,
    help: 'fail on a service message of this kind (repeatable)',
  }),
  maxGap: define({
    flag: '--max-gap <DURATION>',
    parse: parseDuration,
    help: 'fail when a reply pauses for longer than this',
  }),
  maxJitter: define({
    flag: '--max-jitter <DURATION>',
    parse: parseDuration,
    help: 'fail when the 95th percentile of the jitter is above this',
  }),
  expectClose: define({
    flag: '--expect-close <CODE>',
    parse: parseInteger(1000, 4999),
    help: 'fail unless the stream closes with this code',
  }),
  expectFile: define({
    flag: '--expect-file <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'a whole conversation, YAML or JSON: what is said when, and what must follow; in place of --file',
  }),
  repeat: define({
    flag: '--repeat <N>',
    default: '1',
    parse: parseInteger(1, 10_000),
    help: 'hold this many sessions one after the other, and tell how the metrics are spread',
  }),
  warmup: define({
    flag: '--warmup <N>',
    default: '0',
    parse: parseInteger(0, 1_000),
    help: 'sessions before those that do not count',
  }),
  junit: define({
    flag: '--junit <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write the verdicts in the form that pipelines read',
  }),
};

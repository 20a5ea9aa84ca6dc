import { comparers, define } from '../option.ts';
import { parseFlag, parseText } from '../parse.ts';
import { parseTolerance } from '../threshold.ts';

/** `compare`, and `--baseline` of what can be compared. */
export const compareSettings = {
  baseline: define({
    commands: comparers,
    group: 'verdicts',
    flag: '--baseline <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'compare with the runs in this file; exit 1 if this one is worse',
  }),
  updateBaseline: define({
    commands: comparers,
    group: 'verdicts',
    needs: { baseline: 'that is the file to write' },
    flag: '--update-baseline',
    parse: parseFlag,
    flagOnly: true,
    help: 'add this run to --baseline, which keeps the newest 20; a run that is worse or not valid is not added',
  }),
  tolerance: define({
    commands: ['compare', 'load', 'load merge', 'stream'],
    group: 'verdicts',
    flag: '--tolerance <TOLERANCE>',
    parse: parseTolerance,
    repeatable: true,
    help: 'let a figure get worse by this much, such as first-audio:p95<10% or failed<1% (repeatable)',
  }),
};

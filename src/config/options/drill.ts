import { parseDuration, parseFlag, parseInteger, parseText } from '../parse.ts';
import { define } from './define.ts';

/** `drill`. */
export const drillSettings = {
  drill: define({
    flag: '--drill <ID>',
    parse: parseText,
    repeatable: true,
    flagOnly: true,
    defaultText: 'all',
    help: 'only this situation, such as D9-1012, or those of this rule, such as D9 (repeatable)',
  }),
  list: define({
    flag: '--list',
    parse: parseFlag,
    flagOnly: true,
    help: 'print the situations; start nothing',
  }),
  noticeWithin: define({
    flag: '--device-timeout <DURATION>',
    key: 'deviceTimeout',
    flagOnly: true,
    default: '60s',
    parse: parseDuration,
    help: 'how long the device may take to notice that the service is gone, and to connect',
  }),
  parallel: define({
    flag: '--parallel <N>',
    default: '1',
    parse: parseInteger(1, 16),
    help: 'number of situations at the same time, each with its own command',
  }),
};

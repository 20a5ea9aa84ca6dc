import { parseFlag } from '../parse.ts';
import { define } from './define.ts';

/** `token`. */
export const tokenSettings = {
  decode: define({
    flag: '--decode',
    parse: parseFlag,
    flagOnly: true,
    help: 'print header and claims as JSON instead of the token',
  }),
  curl: define({
    flag: '--curl',
    parse: parseFlag,
    flagOnly: true,
    help: 'print the equivalent curl command; sends nothing',
  }),
};

import { parseChoice, parseFlag } from '../parse.ts';
import { define } from './define.ts';

/** What it prints. */
export const outputSettings = {
  output: define({
    flag: '--output <FORM>',
    defaultText: 'tui on a terminal, else plain',
    parse: parseChoice(['tui', 'plain', 'json']),
    help: 'tui (stream, serve, check and drill, on a terminal only), plain or json',
  }),
  json: define({ flag: '--json', parse: parseFlag, flagOnly: true, help: 'short for --output json' }),
  color: define({
    flag: '--no-color',
    parse: parseFlag,
    flagOnly: true,
    help: 'no colour, as with NO_COLOR',
  }),
  quiet: define({ flag: '-q, --quiet', parse: parseFlag, flagOnly: true, help: 'warnings and errors only' }),
  verbose: define({ flag: '-v, --verbose', parse: parseFlag, flagOnly: true, help: 'more detail' }),
  debug: define({ flag: '--debug', parse: parseFlag, flagOnly: true, help: 'a stack with each error' }),
};

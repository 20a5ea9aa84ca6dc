import { parseFlag, parseText } from '../parse.ts';
import { define } from './define.ts';

/** `inspect`. */
export const inspectSettings = {
  html: define({
    flag: '--html <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write the result as one self-contained page',
  }),
  har: define({
    flag: '--har <FILE>',
    parse: parseText,
    flagOnly: true,
    help: 'write an HTTP archive (HAR 1.2) with the token request and the WebSocket messages',
  }),
  ascii: define({
    flag: '--ascii',
    defaultText: 'where the locale is not UTF-8',
    parse: parseFlag,
    flagOnly: true,
    help: 'draw with ASCII characters only',
  }),
};

import { define } from '../option.ts';
import { parseHost, parseText } from '../parse.ts';

/** `mcp`. */
export const mcpSettings = {
  allowTarget: define({
    commands: ['mcp'],
    group: 'reach',
    flag: '--allow-target <HOST>',
    parse: parseHost,
    repeatable: true,
    flagOnly: true,
    help: 'let the client reach this host, with the API key (repeatable); otherwise only this machine, without it',
  }),
  folder: define({
    commands: ['mcp'],
    group: 'reach',
    flag: '--folder <DIR>',
    parse: parseText,
    flagOnly: true,
    help: 'let the client write recordings and sounds into this folder; otherwise nothing',
  }),
};

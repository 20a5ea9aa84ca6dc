import { parseChoice, parseFlag, parseInteger, parseProbability, parseText } from '../parse.ts';
import { define } from './define.ts';

/** Control of a running emulator. */
export const controlSettings = {
  controlSecretFile: define({
    flag: '--control-secret-file <FILE>',
    defaultText: 'VOICECTL_CONTROL_SECRET',
    parse: parseText,
    help: 'file with the secret of the control API, for an emulator beyond loopback or behind a proxy',
  }),
  onStream: define({
    flag: '--on-stream <N>',
    defaultText: 'all',
    parse: parseInteger(1, Number.MAX_SAFE_INTEGER),
    flagOnly: true,
    help: 'only the stream with this number',
  }),
  onDevice: define({
    flag: '--on-device <ID>',
    defaultText: 'all',
    parse: parseText,
    flagOnly: true,
    help: 'only streams of this device',
  }),
  follow: define({ flag: '--follow', parse: parseFlag, flagOnly: true, help: 'show events as they happen' }),
  type: define({
    flag: '--type <TYPE>',
    defaultText: 'all',
    parse: parseText,
    flagOnly: true,
    help: 'only events of this type',
  }),
  limit: define({
    flag: '--limit <N>',
    default: '1000',
    parse: parseInteger(1, 10_000),
    flagOnly: true,
    help: 'at most this many events, the newest',
  }),
  times: define({
    flag: '--times <N>',
    defaultText: 'until it is cleared',
    parse: parseInteger(1, Number.MAX_SAFE_INTEGER),
    flagOnly: true,
    help: 'the fault strikes this often',
  }),
  once: define({ flag: '--once', parse: parseFlag, flagOnly: true, help: 'short for --times 1' }),
  probability: define({
    flag: '--probability <P>',
    defaultText: '1',
    parse: parseProbability,
    flagOnly: true,
    help: 'chance of the fault at each opportunity',
  }),
  status: define({
    flag: '--status <STATE>',
    parse: parseChoice(['listening', 'speaking']),
    flagOnly: true,
    help: 'send a status message: listening or speaking',
  }),
  errorCode: define({
    flag: '--error-code <CODE>',
    parse: parseText,
    flagOnly: true,
    help: 'send an error message with this code',
  }),
  message: define({
    flag: '--message <TEXT>',
    defaultText: 'the code',
    parse: parseText,
    flagOnly: true,
    help: 'text of the error message',
  }),
  code: define({
    flag: '--code <N>',
    default: '1000',
    parse: parseInteger(1000, 4999),
    flagOnly: true,
    help: 'close code',
  }),
  reason: define({ flag: '--reason <TEXT>', parse: parseText, flagOnly: true, help: 'close reason' }),
};

import { describe, expect, test } from 'vitest';
import {
  parseBytes,
  parseChoice,
  parseDuration,
  parseFlag,
  parseHost,
  parseInteger,
  parsePace,
  parseProcesses,
  parseText,
  parseUrl,
  parseUrlOrFile,
} from '../../src/config/parse.ts';

const http = parseUrl('http:', 'https:');

describe('values that are read', () => {
  test.each([
    ['no time at all', parseDuration, '0', 0],
    ['milliseconds', parseDuration, '1500ms', 1500],
    ['seconds', parseDuration, '10s', 10_000],
    ['fractions', parseDuration, '1.5s', 1500],
    ['minutes', parseDuration, '2m', 120_000],
    ['nothing at all', parseDuration, '0', 0],
    ['the longest duration that a timer holds', parseDuration, '24d', 2_073_600_000],
    ['bytes', parseBytes, '65536', 65_536],
    ['KiB', parseBytes, '64KiB', 65_536],
    ['MiB, in any case', parseBytes, '1 mib', 1_048_576],
    ['a whole number', parseInteger(0, 10), '10', 10],
    ['real time', parsePace, 'realtime', 1],
    ['as fast as possible', parsePace, 'max', 'max'],
    ['a factor', parsePace, '2.5', 2.5],
    ['a switch', parseFlag, 'false', false],
    ['one of a choice', parseChoice(['a', 'b']), 'b', 'b'],
    ['an address', http, 'http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    [
      'an address with slashes at its end',
      http,
      'https://voice.example.test/base//',
      'https://voice.example.test/base',
    ],
    ['an address with white space around it', http, ' http://localhost:1 ', 'http://localhost:1'],
    ['an address in capitals', http, 'HTTP://LOCALHOST:1', 'http://localhost:1'],
    ['a host in capitals', parseHost, 'Voice.Example:8443', 'voice.example:8443'],
    ['an address of version 6', http, 'http://[::1]:80', 'http://[::1]'],
    ['an address in numbers', http, 'http://2130706433:1', 'http://127.0.0.1:1'],
  ])('%s', (_what, parse, text, value) => {
    expect((parse as (text: string) => unknown)(text)).toBe(value);
  });
});

describe('values that are refused, and what was expected', () => {
  test.each([
    ['no text', parseText, '', 'some text'],
    ['a negative duration', parseDuration, '-5s', 'a duration, such as'],
    ['a duration in words', parseDuration, 'soon', 'a duration, such as'],
    ['a duration of parsecs', parseDuration, '10 parsecs', 'a duration, such as'],
    ['a duration without its unit', parseDuration, '2', 'a duration with its unit: 2s or 2ms?'],
    ['a fraction without its unit', parseDuration, ' 0.5 ', 'a duration with its unit: 0.5s or 0.5ms?'],
    ['a duration without end', parseDuration, '1'.repeat(200), 'a duration, such as'],
    ['a duration that no timer holds', parseDuration, '25d', 'at most 24 days'],
    ['a negative size', parseBytes, '-1', 'a size, such as'],
    ['a size of gigabytes', parseBytes, '1GB', 'a size, such as'],
    ['a number below', parseInteger(1, 10), '0', 'a whole number from 1 to 10'],
    ['a number above', parseInteger(1, 10), '11', 'a whole number from 1 to 10'],
    ['a fraction', parseInteger(1, 10), '1.5', 'a whole number'],
    ['another base', parseInteger(1, 20), '0x10', 'a whole number'],
    ['an exponent', parseInteger(1, 20), '1e1', 'a whole number'],
    ['no number', parseInteger(1, 10), '', 'a whole number'],
    ['no process', parseProcesses('auto'), '0', 'auto or a whole number from 1 to 256'],
    ['no generator', parseProcesses('auto', 'none'), '0', 'auto, none or a whole number from 1 to 256'],
    ['a pace of nothing', parsePace, '0', 'realtime, max, or a factor'],
    ['a negative pace', parsePace, '-1', 'realtime, max, or a factor'],
    ['a word', parseFlag, 'yes', 'true or false'],
    ['none of the choice', parseChoice(['a', 'b']), 'c', 'one of a, b'],
    ['a host without a scheme', http, 'localhost:8787', 'http:// or https://'],
    ['another scheme', http, 'ftp://localhost', 'http:// or https://'],
    ['no host', http, 'http://', 'http:// or https://'],
    ['a password', http, 'http://u:p@localhost', 'without a user name or password'],
    ['no file and no address', parseUrlOrFile, '', 'a file, or a URL such as'],
    ['a query', http, 'http://localhost/?a', 'without a query or fragment'],
    ['a fragment', http, 'http://localhost/#a', 'without a query or fragment'],
  ])('%s', (_what, parse, text, expected) => {
    expect(() => (parse as (text: string) => unknown)(text)).toThrow(expected);
  });
});

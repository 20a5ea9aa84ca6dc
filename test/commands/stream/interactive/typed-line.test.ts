import { expect, test } from 'vitest';
import { helpLines, readTyped } from '../../../../src/commands/stream/interactive/typed-line.ts';

test.each([
  ['hello', { type: 'text', text: 'hello' }],
  [' {"a": 1} ', { type: 'text', text: ' {"a": 1} ' }],
  [':text :close', { type: 'text', text: ':close' }],
  [':text', { type: 'text', text: '' }],
  [':binary 00fF 7f', { type: 'binary', data: Buffer.from([0, 255, 127]) }],
  [':binary', { type: 'binary', data: Buffer.alloc(0) }],
  [':file  my file.wav ', { type: 'file', path: 'my file.wav' }],
  [':silence 1.5s', { type: 'silence', ms: 1_500 }],
  [':wait 20ms', { type: 'wait', ms: 20 }],
  [':stop', { type: 'stop' }],
  [':ping', { type: 'ping' }],
  [':fold on', { type: 'fold', isOn: true }],
  [':close', { type: 'close', code: 1000 }],
  [':close 4001', { type: 'close', code: 4001 }],
  [':q', { type: 'close', code: 1000 }],
  [':help', { type: 'help' }],
  ['   ', { type: 'nothing' }],
])('%j is read', (line, typed) => {
  expect(readTyped(line)).toEqual(typed);
});

test.each([
  [':bogus', 'there is no command :bogus'],
  [':', 'there is no command'],
  [':constructor', 'there is no command'],
  [':binary 0', 'pairs of hexadecimal digits'],
  [':binary xyz0', 'pairs of hexadecimal digits'],
  [':file', 'expects the path of a WAV'],
  [':silence 2', 'expects a duration'],
  [':wait soon', 'expects a duration'],
  [':fold', 'expects on or off'],
  [':close 1005', 'cannot be sent'],
  [':close 99', 'cannot be sent'],
  [':close 4001 bye', 'takes only a code'],
])('%j is refused in words', (line, why) => {
  expect(readTyped(line)).toEqual({ type: 'wrong', why: expect.stringContaining(why) });
});

test('the help names every command', () => {
  for (const name of ['text', 'binary', 'file', 'silence', 'stop', 'ping', 'wait', 'fold', 'close', 'help'])
    expect(helpLines.join('\n')).toContain(`:${name}`);
});

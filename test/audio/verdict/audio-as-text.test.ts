import { expect, test } from 'vitest';
import { recogniseText } from '../../../src/audio/verdict/audio-as-text.ts';

const letters = 'Abcdefghijklmnopqrstuvwxyz12345';
const coded = `${letters}${letters}${letters}${letters}`.slice(0, 99).concat('=');
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at - 40);

test.each([
  [`${letters}6`, 'base64'],
  [`${letters}+/=`, 'base64'],
  [`${letters}-_`, 'base64'],
  [`${letters}\r\nx`, 'base64'],
  [letters, undefined],
  [`${letters}.`, undefined],
  [`,${letters}`, undefined],
  [letters.toLowerCase() + letters.toLowerCase(), undefined],
  [letters.toUpperCase() + letters.toUpperCase(), undefined],
  ['Abcdefghijklmnopqrstuvwxyzabcdefgh', undefined],
  [`{"audio":"${coded}"}`, 'json'],
  [` \n{"audio":"${coded}"}`, 'json'],
  [`{"audio":"${coded.slice(1)}"}`, undefined],
  ['{"type":"hello","id":"123e4567-e89b-12d3-a456-426614174000"}', undefined],
  [`{"text":"${coded.replace('z', ' ')}"}`, undefined],
  [`{"audio":${coded}"}`, undefined],
  [`["${coded}"]`, undefined],
  [`x{"audio":"${coded}"}`, undefined],
  [JSON.stringify(numbers(80)), 'json'],
  [JSON.stringify(Array(80).fill(0)), 'json'],
  [JSON.stringify({ audio: numbers(80) }, undefined, 2), 'json'],
  [JSON.stringify(numbers(80).map((one) => one / 32_768)), 'json'],
  [JSON.stringify(numbers(79)), undefined],
  [JSON.stringify(numbers(40).map((one) => one / 32_768)), undefined],
  [numbers(80).join(), undefined],
])('the text %j is %j', (text, kind) => {
  expect(recogniseText(text)).toBe(kind);
});

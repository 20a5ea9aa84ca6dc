import { expect, test } from 'vitest';
import { recogniseContainer, recogniseText } from '../../../src/audio/verdict/recognise-container.ts';
import { speechPcm } from '../../helpers/device-audio.ts';

const bytes = (...values: number[]) => Buffer.from([...values, 0, 0, 0, 0]);
const letters = 'Abcdefghijklmnopqrstuvwxyz12345';

test.each([
  ['a WAV', Buffer.from('RIFF\u0000\u0000'), 'riff-header'],
  ['a WAV with 64-bit sizes', Buffer.from('BW64\u0000\u0000'), 'riff-header'],
  ['an Ogg', Buffer.from('OggS\u0000'), 'compressed'],
  ['a FLAC', Buffer.from('fLaC\u0000'), 'compressed'],
  ['an MP3 with tags', Buffer.from('ID3\u0004'), 'compressed'],
  ['a WebM', bytes(0x1a, 0x45, 0xdf, 0xa3), 'compressed'],
  ['an MP3', bytes(0xff, 0xfb), 'compressed'],
  ['an MP3 of 24 kHz', bytes(0xff, 0xf3), 'compressed'],
  ['an AAC', bytes(0xff, 0xf1), 'compressed'],
  ['an MP4', Buffer.from('\u0000\u0000\u0000\u0018ftypM4A '), 'compressed'],
  ['base64', Buffer.from(speechPcm.subarray(0, 640).toString('base64')), 'base64'],
  ['JSON with audio', Buffer.from(`{"audio":"${letters}x"}`), 'json'],
  ['samples', speechPcm.subarray(0, 640), undefined],
  ['silence', Buffer.alloc(640), undefined],
  ['the second half of a header', Buffer.from('xRIFF'), undefined],
  ['nothing', Buffer.alloc(0), undefined],
])('a stream that begins with %s is %j', (_what, message, kind) => {
  expect(recogniseContainer(message as Buffer)).toBe(kind);
});

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
  [`{"audio":"${letters}6"}`, 'json'],
  [` \n{"audio":"${letters}6"}`, 'json'],
  [`{"audio":"${letters}"}`, undefined],
  [`{"text":"${letters} 6"}`, undefined],
  [`{"audio":${letters}6"}`, undefined],
  [`["${letters}6"]`, undefined],
  [`x{"audio":"${letters}6"}`, undefined],
])('the text %j is %j', (text, kind) => {
  expect(recogniseText(text)).toBe(kind);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadPcm } from '../../src/audio/wav/wav-source.ts';
import { findShippedSound } from '../../src/files/shipped-file.ts';
import { fixture, fixturePcm } from '../helpers/voicectl.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-shipped-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'question.wav'), '');

describe('the sound of a name', () => {
  test.each([
    ['is a shipped one where there is no file of that name', 'hello.wav', fixture('hello.wav')],
    ['is the user’s own file before a shipped one', 'question.wav', join(folder, 'question.wav')],
    ['is never a shipped one for a path', './hello.wav', join(folder, 'hello.wav')],
    ['is the file that is not there where nothing is shipped', 'no.wav', join(folder, 'no.wav')],
    ['is an absolute path as it stands', '/no/hello.wav', '/no/hello.wav'],
    ['is standard input for -', '-', '-'],
  ])('%s', async (_what, name, expected) => {
    expect(await findShippedSound(name, folder)).toBe(expected);
  });

  test('is shown as typed if no folder is given', async () => {
    expect(await findShippedSound('no.wav')).toBe('no.wav');
  });
});

test('loadPcm finds an included sound', async () => {
  expect((await loadPcm('hello.wav')).equals(fixturePcm('hello.wav'))).toBe(true);
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { speakText } from '../../../src/commands/stream/speak-text.ts';
import { findShippedSound } from '../../../src/files/shipped-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'voicectl-speak-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const speak = (text: string, by: string[], signal = never) =>
  speakText(
    { text, by },
    { folder, env: { ...process.env, XDG_CACHE_HOME: folder, VOICECTL_API_KEY: 'canary' }, signal },
  );

/** Speaks by copying a WAV, and counts how often it is asked. */
async function copier() {
  const from = await findShippedSound('hello.wav');
  const script = `const fs = require('fs'); const [wav, text] = process.argv.slice(1);
    const said = text ?? fs.readFileSync(0, 'utf8');
    fs.appendFileSync('asked.txt', said + ' ' + (process.env.VOICECTL_API_KEY ?? 'no key') + '\\n');
    fs.copyFileSync(${JSON.stringify(from)}, wav);`;
  return {
    by: [process.execPath, '-e', script, '{wav}'],
    asked: () => readFileSync(join(folder, 'asked.txt'), 'utf8'),
    pcm: await loadPcm(from),
  };
}

test('a text is spoken by the command once, without our keys, and kept for its owner alone', async () => {
  const { by, asked, pcm } = await copier();
  const file = await speak('good morning; $(x)', [...by, '{text}']);
  expect(await loadPcm(file)).toEqual(pcm);
  expect(await speak('good morning; $(x)', [...by, '{text}'])).toBe(file);
  expect(asked()).toBe('good morning; $(x) no key\n');
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(file))).toHaveLength(1);
});

test('another text, and another command, is spoken anew; without {text} it is on standard input', async () => {
  const { by, asked } = await copier();
  const files = [await speak('one', by), await speak('two', by), await speak('two', [...by, '{text}'])];
  expect(new Set(files).size).toBe(3);
  expect(asked()).toBe('one no key\ntwo no key\ntwo no key\n');
});

test.each([
  ['fails', 'console.error("no voice"); process.exit(3)', 'it exited with 3: no voice'],
  ['writes nothing', '', 'there is no such file'],
  ['writes no WAV', 'require("fs").writeFileSync(process.argv[1], "text")', 'it is not a WAV file'],
])('a command that %s is refused, and nothing is kept', async (_, script, why) => {
  await expect(speak('x', [process.execPath, '-e', script, '{wav}'])).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining(why),
  });
  expect(readdirSync(join(folder, 'voicectl', 'speech'))).toEqual([]);
});

test('a command that is slow ends with the run', async () => {
  const run = new AbortController();
  const spoken = speak('x', [process.execPath, '-e', 'setInterval(() => {}, 9)', '{wav}'], run.signal);
  await expect.poll(() => readdirSync(folder)).toContain('voicectl');
  run.abort(new Error('stopped'));
  await expect(spoken).rejects.toThrow('stopped');
});

test('the texts that were used last are kept', async () => {
  const { by } = await copier();
  const first = await speak('first', by);
  const cache = dirname(first);
  for (let index = 0; index < 200; index += 1) {
    writeFileSync(join(cache, `${index}.wav`), '');
    utimesSync(join(cache, `${index}.wav`), index, index);
  }
  const second = await speak('second', by);
  const kept = readdirSync(cache);
  expect(kept).toHaveLength(200);
  expect(kept).toEqual(expect.arrayContaining([first, second].map((file) => file.slice(cache.length + 1))));
  expect(kept).not.toContain('0.wav');
});

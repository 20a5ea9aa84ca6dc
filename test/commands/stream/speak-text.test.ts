import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadPcm } from '../../../src/audio/wav/wav-source.ts';
import { speakText } from '../../../src/commands/stream/speak-text.ts';
import { findShippedSound } from '../../../src/files/shipped-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'voicectl-speak-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const never = new AbortController().signal;
const speak = (text: string, by: string[], signal = never) =>
  speakText(
    { text, by },
    { folder, env: { ...process.env, XDG_CACHE_HOME: folder, VOICECTL_API_KEY: 'canary' }, signal },
  );

/** Speaks by copying a WAV, and counts how often it is asked. */
async function copier() {
  const from = await findShippedSound('mhm.wav');
  const script = `if [ $# -gt 1 ]; then said=$2; else said=$(cat); fi
    echo "$said \${VOICECTL_API_KEY-no key}" >>asked.txt
    cp '${from}' "$1"`;
  return {
    by: ['sh', '-c', script, 'sh', '{wav}'],
    asked: () => readFileSync(join(folder, 'asked.txt'), 'utf8'),
    pcm: await loadPcm(from),
  };
}

test('a text is spoken by the command once, without our keys, and kept for its owner only', async () => {
  const { by, asked, pcm } = await copier();
  const file = await speak('good morning; $(x)', [...by, '{text}']);
  expect(await loadPcm(file)).toEqual(pcm);
  expect(await speak('good morning; $(x)', [...by, '{text}'])).toBe(file);
  expect(asked()).toBe('good morning; $(x) no key\n');
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(file))).toHaveLength(1);
});

test('another text or command is spoken again; without {text} the text is on standard input', async () => {
  const { by, asked } = await copier();
  const files = [await speak('one', by), await speak('two', by), await speak('two', [...by, '{text}'])];
  expect(new Set(files).size).toBe(3);
  expect(asked()).toBe('one no key\ntwo no key\ntwo no key\n');
});

test.each([
  ['fails', 'echo "no voice" >&2; exit 3', 'it exited with 3: no voice'],
  ['writes nothing', ':', 'wrote no WAV'],
  ['writes a pipe', 'mkfifo "$1"', 'is not a regular file'],
  ['writes a link', 'ln -s /dev/zero "$1"', 'is not a regular file'],
  ['writes a folder', 'mkdir "$1"', 'is not a regular file'],
  [
    'writes without end',
    'dd if=/dev/zero of="$1" bs=1 count=1 seek=8589934592 2>/dev/null; exec sleep 100',
    'it wrote more than 256 MiB',
  ],
  ['writes no WAV', 'printf text >"$1"', 'it is not a WAV file'],
])('a command that %s is refused, and nothing is kept', async (_, script, why) => {
  await expect(speak('x', ['sh', '-c', script, 'sh', '{wav}'])).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining(why),
  });
  expect(readdirSync(join(folder, 'voicectl', 'speech'))).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)(
  'a WAV that another user writes into the folder of the draft is spoken and kept (skipped: not root)',
  async () => {
    const { by, asked, pcm } = await copier();
    const [program = '', option = '', script = '', ...rest] = by;
    const another = [program, option, `${script}; chown 65534:65534 "$1"`, ...rest];
    expect(await loadPcm(await speak('x', another))).toEqual(pcm);
    expect(await loadPcm(await speak('x', another))).toEqual(pcm);
    expect(asked()).toBe('x no key\n');
  },
);

test('a command that is slow ends with the run', async () => {
  const run = new AbortController();
  const spoken = speak('x', ['sleep', '100', '{wav}'], run.signal);
  await expect.poll(() => readdirSync(folder)).toContain('voicectl');
  run.abort(new Error('stopped'));
  await expect(spoken).rejects.toThrow('stopped');
});

test('the most recently used texts are kept', async () => {
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

const spoil: [string, (file: string) => void][] = [
  ['a link', (file) => symlinkSync('/dev/zero', file)],
  ['a pipe', (file) => execFileSync('mkfifo', [file])],
  ['a folder', (file) => mkdirSync(file)],
  ['no WAV', (file) => writeFileSync(file, 'text')],
  ['empty', (file) => writeFileSync(file, '')],
];
test.each(spoil)('a cached text that is %s is spoken again', async (_, put) => {
  const { by, asked, pcm } = await copier();
  const file = await speak('x', by);
  rmSync(file);
  put(file);
  expect(await loadPcm(await speak('x', by))).toEqual(pcm);
  expect(asked()).toBe('x no key\nx no key\n');
});

test('nothing is spoken if others can write to the cache folder', async () => {
  const { by, asked } = await copier();
  const cache = dirname(await speak('x', by));
  chmodSync(cache, 0o777);
  const temporary = mkdtempSync(join(folder, 'temporary-'));
  vi.stubEnv('TMPDIR', temporary);
  mkdirSync(join(temporary, `voicectl-${process.getuid?.()}`), { mode: 0o777 });
  chmodSync(join(temporary, `voicectl-${process.getuid?.()}`), 0o777);
  await expect(speak('x', by)).rejects.toMatchObject({
    code: 'input-output',
    message: expect.stringContaining(`${cache} belongs to someone else, or others can write to it`),
  });
  expect(asked()).toBe('x no key\n');
  chmodSync(join(temporary, `voicectl-${process.getuid?.()}`), 0o700);
  expect(dirname(dirname(await speak('x', by)))).toBe(join(temporary, `voicectl-${process.getuid?.()}`));
});

test('the cache has at most 512 MiB', async () => {
  const { by } = await copier();
  const cache = dirname(await speak('first', by));
  for (let index = 0; index < 3; index += 1) {
    writeFileSync(join(cache, `${index}.wav`), '');
    truncateSync(join(cache, `${index}.wav`), 200 * 1024 * 1024);
    utimesSync(join(cache, `${index}.wav`), index, index);
  }
  await speak('second', by);
  expect(readdirSync(cache)).toEqual(expect.not.arrayContaining(['0.wav']));
  expect(readdirSync(cache)).toEqual(expect.arrayContaining(['1.wav', '2.wav']));
});

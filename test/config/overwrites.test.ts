import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PathUse, pathUseOf } from '../../src/config/option.ts';
import { optionNames, optionSpec } from '../../src/config/options.ts';
import { findOverwrites } from '../../src/config/overwrites.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'voicectl-overwrites-'));
  writeFileSync(join(dir, 'in.wav'), 'sound');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** What each output would overwrite, by labels. */
async function overwrites(...files: [label: string, path: string, use: PathUse][]) {
  const named = files.map(([label, path, use]) => ({ label, path: join(dir, path), use }));
  return (await findOverwrites(named)).map(({ file, other }) => `${file.label} is ${other}`);
}

describe('an output may not be an input', () => {
  test('by the same path, in whatever order they are named', async () => {
    expect(await overwrites(['in', 'in.wav', 'read'], ['out', './in.wav', 'written'])).toEqual(['out is in']);
    expect(await overwrites(['out', 'in.wav', 'written'], ['in', 'in.wav', 'read'])).toEqual(['out is in']);
    expect(await overwrites(['in', 'new.wav', 'read'], ['out', 'new.wav', 'written'])).toEqual(['out is in']);
  });

  test.each([
    ['a symbolic link', symlinkSync],
    ['a hard link', linkSync],
  ])('by %s', async (_what, link) => {
    link(join(dir, 'in.wav'), join(dir, 'out.wav'));
    expect(await overwrites(['in', 'in.wav', 'read'], ['out', 'out.wav', 'written'])).toEqual(['out is in']);
  });

  test('nor a file of a recording that is read', async () => {
    mkdirSync(join(dir, 'rec'));
    writeFileSync(join(dir, 'rec', 'wire.jsonl'), '');
    const found = (output: string) =>
      overwrites(['the recording', 'rec', 'read'], ['out', output, 'written']);
    expect(await found('rec/wire.jsonl')).toEqual(['out is wire.jsonl of the recording']);
    expect(await found('rec/both.wav')).toEqual(['out is both.wav of the recording']);
    expect(await found('rec/page.html')).toEqual([]);
  });

  test('nor a sound that a conversation or a scenario says', async () => {
    const script = (text: string) => writeFileSync(join(dir, 'script.yaml'), text);
    const found = () => overwrites(['script', 'script.yaml', 'script'], ['out', 'in.wav', 'written']);
    script('turns: [{ name: in.wav, say: other.wav }]');
    expect(await found()).toEqual([]);
    script('turns: [{ say: other.wav }, { say: ./in.wav }]');
    expect(await found()).toEqual(['out is a sound of script']);
    script('devices: { d: { steps: [{ when: connected, do: [{ say: { file: in.wav } }] }] } }');
    expect(await found()).toEqual(['out is a sound of script']);
  });

  test('but it may be what is merged into it', async () => {
    expect(await overwrites(['merge', 'in.wav', 'merged'], ['out', 'in.wav', 'written'])).toEqual([]);
  });
});

test('two outputs are two files', async () => {
  expect(await overwrites(['a', 'new', 'written'], ['b', 'new', 'written'])).toEqual(['b is a']);
  expect(await overwrites(['a', 'new', 'written'], ['b', 'newer', 'written'])).toEqual([]);
});

test('two inputs may be one file, and a script that cannot be read is not looked into', async () => {
  writeFileSync(join(dir, 'broken.yaml'), 'a: [');
  expect(
    await overwrites(
      ...(['a', 'b'] as const).map((label): [string, string, PathUse] => [label, 'in.wav', 'read']),
      ['script', 'broken.yaml', 'script'],
      ['missing', 'missing.yaml', 'script'],
      ['out', 'new.wav', 'written'],
    ),
  ).toEqual([]);
  expect(readFileSync(join(dir, 'in.wav'), 'utf8')).toBe('sound');
});

test('every setting that names a file is either read or written', () => {
  const written = optionNames.filter((name) => pathUseOf(optionSpec(name)) === 'written');
  const read = optionNames.filter((name) => pathUseOf(optionSpec(name)) === 'read');
  expect(written).toEqual(
    expect.arrayContaining([
      'out',
      'recordBoth',
      'recordMic',
      'html',
      'har',
      'scenarioOut',
      'junit',
      'resultOut',
    ]),
  );
  expect(read).toEqual(
    expect.arrayContaining([
      'file',
      'raw',
      'reply',
      'apiKeyFile',
      'ca',
      'config',
      'dialect',
      'expected',
      'baseline',
    ]),
  );
});

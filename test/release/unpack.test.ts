import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Cargo, readChild, unpack } from '../../release/unpack.cjs';

const files = { 'bin/a.js': 'first', 'bin/deep/b.js': 'second', 'c.json': '{}' };

function cargoOf(contents: Record<string, string>, name = '1.0.0-abc'): Cargo & { reads: number } {
  const entries = Object.entries(contents).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  }));
  return {
    name,
    entries,
    reads: 0,
    read() {
      this.reads += 1;
      return Buffer.from(Object.values(contents).join(''));
    },
  };
}

let base = '';
let home = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'voicectl-unpack-'));
  home = join(base, 'cache', 'voicectl');
  const made = base;
  return () => rmSync(made, { recursive: true, force: true });
});

const modeOf = (path: string) => lstatSync(path).mode & 0o777;

describe('the files of an executable', () => {
  test('are unpacked once, into a folder that only their owner can open', () => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    expect(folder).toBe(join(home, '1.0.0-abc', 'files'));
    for (const [path, text] of Object.entries(files))
      expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
    expect([home, dirname(folder), folder, join(folder, 'bin', 'deep')].map(modeOf)).toEqual(
      Array(4).fill(0o700),
    );
    expect(modeOf(join(folder, 'bin', 'a.js'))).toBe(0o600);
    expect(unpack(cargo, [home])).toBe(folder);
    expect(cargo.reads).toBe(1);
    expect(readdirSync(home)).toEqual(['1.0.0-abc']);
  });

  test('of two versions are kept side by side', () => {
    const one = unpack(cargoOf(files), [home]);
    const two = unpack(cargoOf({ 'bin/a.js': 'newer' }, '2.0.0-def'), [home]);
    expect(readFileSync(join(one, 'bin', 'a.js'), 'utf8')).toBe('first');
    expect(readFileSync(join(two, 'bin', 'a.js'), 'utf8')).toBe('newer');
  });

  const changes: [string, (folder: string) => void][] = [
    [
      'is changed, with its size and times kept',
      (folder) => {
        const file = join(folder, 'bin', 'a.js');
        const { atime, mtime } = lstatSync(file);
        writeFileSync(file, 'wrong');
        utimesSync(file, atime, mtime);
      },
    ],
    ['is missing', (folder) => rmSync(join(folder, 'c.json'))],
    [
      'was added',
      (folder) => {
        mkdirSync(join(folder, 'node_modules'));
        writeFileSync(join(folder, 'node_modules', 'x.js'), 'more');
      },
    ],
    [
      'is a link to another file',
      (folder) => {
        const file = join(folder, 'bin', 'a.js');
        renameSync(file, join(base, 'a.js'));
        symlinkSync(join(base, 'a.js'), file);
      },
    ],
  ];

  test.each(changes)('are unpacked again if one %s', (_how, change) => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    change(folder);
    expect(unpack(cargo, [home])).toBe(folder);
    expect(readFileSync(join(folder, 'bin', 'a.js'), 'utf8')).toBe('first');
    expect(lstatSync(join(folder, 'bin', 'a.js')).isFile()).toBe(true);
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
    expect(cargo.reads).toBe(2);
    expect(readdirSync(home)).toEqual(['1.0.0-abc']);
  });

  test('are compared byte by byte if the notes of the last start are wrong, and kept if nothing changed', () => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    for (const note of ['nothing of this', undefined]) {
      const stamp = join(dirname(folder), 'stamp');
      if (note === undefined) rmSync(stamp);
      else writeFileSync(stamp, note);
      expect(unpack(cargo, [home])).toBe(folder);
      expect(readFileSync(stamp, 'utf8')).toContain('bin/a.js');
    }
    expect(cargo.reads).toBe(1);
  });

  test('that are missing, together with the notes of the last start, are unpacked again', () => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    rmSync(join(folder, 'bin', 'a.js'));
    rmSync(join(dirname(folder), 'stamp'));
    expect(unpack(cargo, [home])).toBe(folder);
    expect(readFileSync(join(folder, 'bin', 'a.js'), 'utf8')).toBe('first');
  });

  test('that differ from what was built are not run', () => {
    const cargo = { ...cargoOf(files), read: () => Buffer.from('a damaged download') };
    expect(() => unpack(cargo, [home])).toThrow('This executable is damaged (bin/a.js)');
    expect(readdirSync(home)).toEqual([]);
  });
});

describe.skipIf(process.getuid === undefined)('a folder that others can write to', () => {
  test.each([
    ['the folder', (folder: string) => dirname(folder)],
    ['a folder within', (folder: string) => join(folder, 'bin')],
    ['a file', (folder: string) => join(folder, 'bin', 'a.js')],
  ])('is refused: %s', (_what, place) => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    chmodSync(place(folder), 0o777);
    expect(() => unpack(cargo, [home])).toThrow('belongs to someone else, or others may write into it');
    expect(cargo.reads).toBe(1);
  });

  test.runIf(process.getuid?.() === 0)('is refused: someone else wrote a file, or made the folder', () => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    for (const place of [join(folder, 'bin', 'a.js'), dirname(folder)]) {
      chownSync(place, 12345, 12345);
      expect(() => unpack(cargo, [home])).toThrow('belongs to someone else');
      chownSync(place, 0, 0);
    }
  });

  test('is refused: a link in its place', () => {
    const cargo = cargoOf(files);
    const folder = unpack(cargo, [home]);
    renameSync(dirname(folder), join(base, 'elsewhere'));
    symlinkSync(join(base, 'elsewhere'), dirname(folder));
    expect(() => unpack(cargo, [home])).toThrow('1.0.0-abc');
  });

  test('is skipped if nothing was unpacked there', () => {
    const open = join(base, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const temporary = join(base, 'temporary');
    const folder = unpack(cargoOf(files), [join(open, 'voicectl'), temporary]);
    expect(folder).toBe(join(temporary, '1.0.0-abc', 'files'));
    expect(() => unpack(cargoOf(files), [join(open, 'voicectl')])).toThrow(
      `No folder can be unpacked into: others may replace what is in ${open}`,
    );
  });
});

test('a home that is not writable is skipped, in favour of the folder for temporary files', () => {
  writeFileSync(join(base, 'file'), '');
  const temporary = join(base, 'temporary');
  expect(unpack(cargoOf(files), [join(base, 'file', 'voicectl'), temporary])).toContain(temporary);
});

describe('what a child process was started for', () => {
  const cargo = cargoOf(files);
  const within = join('/home/me/.cache/voicectl', cargo.name, 'files');

  test.each([
    ['fork', [join(within, 'bin/a.js'), '1'], { entry: 'bin/a.js', flags: [], args: ['1'] }],
    [
      'fork with flags',
      ['--no-x', join(within, 'bin/a.js')],
      { entry: 'bin/a.js', flags: ['--no-x'], args: [] },
    ],
    [
      'cluster',
      [join(within, 'bin/deep/b.js'), 'serve', '--json'],
      { entry: 'bin/deep/b.js', flags: [], args: ['serve', '--json'] },
    ],
  ])('is the file given to %s', (_how, args, child) => {
    expect(readChild(args, cargo)).toEqual({ home: '/home/me/.cache/voicectl', ...child });
  });

  test.each([
    [[]],
    [['stream', '--file', 'hello.wav']],
    [['--help']],
    [[join(within, 'bin/other.js')]],
    [['stream', join(within, 'bin/a.js')]],
    [[join('/home/me/.cache/voicectl/0.9.0-old/files', 'bin/a.js')]],
  ])('is nothing if a user typed %j', (args) => {
    expect(readChild(args, cargo)).toBeUndefined();
  });
});

import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { readBytes, readText } from '../../src/files/read-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'voicectl-read-text-'));
afterAll(() => rmSync(folder, { recursive: true }));

const input = { stdin: Readable.from([]), signal: new AbortController().signal };

function write(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('a text that the user names', () => {
  test('is read from a file, without a byte order mark', async () => {
    expect(await readText(write('a.txt', '\ufeffgrüß\n'), input)).toBe('grüß\n');
  });

  test('is read from standard input for -', async () => {
    const stdin = Readable.from([Buffer.from('gr'), Buffer.from('üß')]);
    expect(await readText('-', { ...input, stdin })).toBe('grüß');
  });

  test.each([
    ['that is not there', join(folder, 'no.txt'), 'bad-input', 'there is no such file'],
    ['that is a folder', folder, 'bad-input', 'it is a folder'],
    ['below a file', join(write('b.txt', ''), 'c.txt'), 'bad-input', 'a part of its path is not a folder'],
    ['with a zero byte in its name', 'a\0b', 'bad-input', 'its name is not a valid path'],
    ['that never ends', '/dev/zero', 'bad-input', 'it is larger than 16 MiB'],
    ['in UTF-16', write('d.txt', Buffer.from('\ufeffa', 'utf16le')), 'bad-input', 'it is not UTF-8 text'],
  ])('%s is refused in the words of every other input', async (_what, path, code, reason) => {
    await expect(readText(path, input)).rejects.toMatchObject({
      code,
      message: `Cannot read ${path}: ${reason}`,
    });
  });

  test('is not waited for when the command ends', async () => {
    const controller = new AbortController();
    const stdin = new PassThrough();
    const reading = readText('-', { stdin, signal: controller.signal });
    await vi.waitFor(() => expect(stdin.listenerCount('readable')).toBe(1));
    controller.abort(new Error('ended'));
    await expect(reading).rejects.toThrow('ended');
    expect(stdin.destroyed).toBe(true);
  });
});

test('bytes are read as they are', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0, 1]);
  expect(await readBytes(write('e.raw', bytes), input)).toEqual(bytes);
});

test('bytes may be more than a text may: ten minutes of sound', async () => {
  const path = write('f.raw', '');
  truncateSync(path, 600 * 32_000);
  expect(await readBytes(path, input)).toHaveLength(600 * 32_000);
});

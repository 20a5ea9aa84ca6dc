import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder for the tests of one file, removed after them. */
export function setUpTempFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'voicectl-audio-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  const path = (name?: string) => join(folder, name ?? `${count++}.wav`);
  return {
    path,
    write(bytes: Buffer): string {
      const file = path();
      writeFileSync(file, bytes);
      return file;
    },
  };
}

/** Whether foreign programs are installed; says loudly when they are not. */
export function hasTools(...names: string[]): boolean {
  const missing = names.filter((name) => spawnSync(name, ['--version']).error !== undefined);
  if (missing.length > 0) console.warn(`NOT CHECKED: ${missing.join(', ')} not installed; tests are skipped`);
  return missing.length === 0;
}

/** Bytes in pieces of the given sizes, round and round. */
export async function* cut(bytes: Buffer, ...sizes: number[]): AsyncGenerator<Buffer> {
  for (let offset = 0, i = 0; offset < bytes.length; i += 1) {
    const size = sizes[i % sizes.length]!;
    yield bytes.subarray(offset, offset + size);
    offset += size;
  }
}

export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of chunks) parts.push(part);
  return Buffer.concat(parts);
}

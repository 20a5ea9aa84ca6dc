import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startDeviceProcess } from '../../../src/devices/process/device-process.ts';
import { systemClock } from '../../../src/kernel/clock.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'voicectl-group-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A script around a program that notes who it is, and keeps its streams open. */
function startWrapped() {
  const wrapper = join(dir, 'parec');
  writeFileSync(wrapper, `#!/bin/sh\nsh -c 'echo $$ > ${dir}/pid; cat /dev/zero; sleep 60'\n`);
  chmodSync(wrapper, 0o755);
  const child = startDeviceProcess(
    { command: wrapper, args: [], env: { PATH: process.env.PATH }, pcm: 'stdout' },
    systemClock,
  );
  return { child, pid: () => Number(readFileSync(join(dir, 'pid'), 'utf8')) };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(process.platform === 'win32')('a device process that is a script around a program', () => {
  test('ends with everything that it started, and with its pipes', async () => {
    const { child, pid } = startWrapped();
    await new Promise((resolve) => (child.pcm as Readable).once('data', resolve));
    const inner = pid();
    expect(isAlive(inner)).toBe(true);
    await child.stop();
    await expect.poll(() => isAlive(inner)).toBe(false);
    await expect.poll(() => (child.pcm as Readable).destroyed).toBe(true);
  });

  test('that is killed also leaves nothing behind', async () => {
    const { child, pid } = startWrapped();
    await new Promise((resolve) => (child.pcm as Readable).once('data', resolve));
    const inner = pid();
    process.kill(child.pid!, 'SIGKILL');
    expect(await child.ended).toBe('was ended by SIGKILL');
    await expect.poll(() => isAlive(inner)).toBe(false);
    await expect.poll(() => (child.pcm as Readable).destroyed).toBe(true);
  });
});

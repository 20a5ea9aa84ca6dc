import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { DeviceSearch } from '../../src/devices/find-backends.ts';
import { systemClock } from '../../src/kernel/clock.ts';

/**
 * A machine whose only programs are those that a test puts there, and that has no native library. A program is JavaScript,
 * or begins with its own interpreter: a shell starts in a tenth of the time.
 */
export function setUpFakePrograms() {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return (programs: Record<string, string> = {}) => {
    const dir = mkdtempSync(join(tmpdir(), 'voicectl-devices-'));
    folders.push(dir);
    mkdirSync(join(dir, 'bin'));
    for (const [name, code] of Object.entries(programs)) {
      const text = code.startsWith('#!') ? code : `#!${process.execPath}\n${code}`;
      writeFileSync(join(dir, 'bin', name), `${text}\n`, { mode: 0o755 });
    }
    const search: DeviceSearch = {
      host: { platform: 'linux', arch: 'arm64' },
      env: { PATH: join(dir, 'bin'), FAKE_DIR: dir },
      hostFile: join(dir, 'device-host.js'),
    };
    return { dir, common: { device: undefined, clock: systemClock, search } };
  };
}

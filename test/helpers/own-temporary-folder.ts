import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'voicectl-tests-';

/**
 * Gives a run of the tests a temporary folder of its own, and removes it at the end: programs of others, such as the
 * clients of a sound server, leave files in the one that they find.
 */
export function setup(): () => void {
  const before = process.env.TMPDIR;
  // It is called once for each project of the run. Chromium allows no long paths.
  if (before?.includes(prefix)) return () => {};
  const folder = mkdtempSync(join(tmpdir(), prefix));
  process.env.TMPDIR = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  };
}

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Whether a file of dist/ is newer than every source. */
export function isBuilt(file: string): boolean {
  const built = join(root, 'dist', file);
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const newest = Math.max(...sources.map((source) => statSync(join(root, 'src', source)).mtimeMs));
  return existsSync(built) && statSync(built).mtimeMs > newest;
}

/** Builds the program before the tests, where a source is newer than what was built. */
export function setup(): void {
  if (!isBuilt('cli.js')) execFileSync(process.execPath, [join(root, 'build.js')], { stdio: 'inherit' });
}

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Whether a file of dist/ is newer than every source, and than what it is built by. */
export function isBuilt(file: string): boolean {
  const built = join(root, 'dist', file);
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const files = ['build.js', 'package.json', ...sources.map((source) => join('src', source))];
  const newest = Math.max(...files.map((source) => statSync(join(root, source)).mtimeMs));
  return existsSync(built) && statSync(built).mtimeMs > newest;
}

/** Builds the program before the tests, where a source is newer than what was built. */
export function setup(): void {
  if (!isBuilt('cli.js')) execFileSync(process.execPath, [join(root, 'build.js')], { stdio: 'inherit' });
}

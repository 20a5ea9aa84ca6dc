import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Builds the program before the tests, where a source is newer than what was built. */
export function setup(): void {
  const root = join(import.meta.dirname, '..', '..');
  const built = join(root, 'dist', 'cli.js');
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const newest = Math.max(...sources.map((file) => statSync(join(root, 'src', file)).mtimeMs));
  if (existsSync(built) && statSync(built).mtimeMs > newest) return;
  execFileSync(process.execPath, [join(root, 'build.js')], { stdio: 'inherit' });
}

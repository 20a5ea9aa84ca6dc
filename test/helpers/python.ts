import { spawnSync } from 'node:child_process';

/** Finds modules without loading them, which takes long. */
const finding = `
import importlib.util as u, sys
if None in [u.find_spec(name) for name in sys.argv[1:]]: sys.exit(1)
print(sys.executable)`;

/** The first Python that has these modules: the program itself, as `python3` may be a script that looks for it. */
export function findPython(...modules: string[]): string | undefined {
  for (const command of ['python3', '/usr/bin/python3']) {
    const { status, stdout } = spawnSync(command, ['-c', finding, ...modules], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  return undefined;
}

import { spawnSync } from 'node:child_process';

/** Finds modules without loading them, which takes long. */
const finding =
  'import importlib.util as u, sys; sys.exit(None in [u.find_spec(name) for name in sys.argv[1:]])';

/** The first Python that has these modules. */
export function findPython(...modules: string[]): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (command) => spawnSync(command, ['-c', finding, ...modules]).status === 0,
  );
}

import { spawnSync } from 'node:child_process';

/** The first Python that can import a module. */
export function findPython(module: string): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (command) => spawnSync(command, ['-c', `import ${module}`]).status === 0,
  );
}

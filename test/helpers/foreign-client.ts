import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// A client in another language, on another library: what it sees is what any other implementation would.
const python = '/usr/bin/python3';
const program = fileURLToPath(new URL('../foreign/client.py', import.meta.url));

export const hasForeignClient = spawnSync(python, ['-c', 'import websockets']).status === 0;
if (!hasForeignClient) {
  console.warn(
    'NOT CHECKED: /usr/bin/python3 has no websockets (Debian: python3-websockets); foreign tests are skipped',
  );
}

/** One run of the foreign client: the report that it prints. */
export async function runForeignClient(baseUrl: string, args: readonly string[]) {
  const all = [program, '--json', '--base-url', baseUrl, '--pace', 'max', ...args];
  const output = await new Promise<string>((resolve, reject) => {
    execFile(python, all, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
    );
  });
  return JSON.parse(output);
}

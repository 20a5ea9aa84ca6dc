import { readdir, readFile } from 'node:fs/promises';

/**
 * The processes that have this entry, `NAME=value`, in their environment: what a command has started, even if it left
 * the process group. Linux only; elsewhere none are found.
 */
export async function findMarked(entry: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      // Processes of others cannot be read, and some have gone since.
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.split('\0').includes(entry);
    }),
  );
  return pids.filter((pid, index) => marked[index] && pid !== process.pid);
}

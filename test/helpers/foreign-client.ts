import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
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

// biome-ignore lint/suspicious/noExplicitAny: the report of a foreign program
type Report = any;

interface Outcome {
  id: number;
  report?: Report;
  error?: string;
}

type Runner = (args: readonly string[]) => Promise<Outcome>;

let runner: Runner | undefined;

/** One run of the foreign client, in a process of its own: the report that it prints. */
export async function runForeignClient(baseUrl: string, args: readonly string[]): Promise<Report> {
  runner ??= startRunner();
  const { report, error } = await runner(['--base-url', baseUrl, '--pace', 'max', ...args]);
  if (error !== undefined) throw new Error(error);
  return report;
}

/** Starts the program that has loaded the client already. It ends with this process. */
function startRunner(): Runner {
  const child = spawn(python, [program, '--each'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (outcome: Outcome) => void>();
  createInterface(child.stdout).on('line', (line) => {
    const outcome = JSON.parse(line) as Outcome;
    waiting.get(outcome.id)?.(outcome);
    waiting.delete(outcome.id);
  });
  child.once('exit', (code) => {
    runner = undefined;
    for (const [id, tell] of waiting) tell({ id, error: `the foreign client ended with ${code}` });
  });
  unref(child);
  let last = 0;
  return (args) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.stdin.write(`${JSON.stringify({ id: last, arguments: args })}\n`);
    });
}

/** Keeps a child from keeping this process alive. */
function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.();
}

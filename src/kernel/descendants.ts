import { readdirSync, readFileSync } from 'node:fs';

/** A process, and when it started: another one may have its number later. */
export interface StartedProcess {
  pid: number;
  /** In ticks of the system's clock since it started. */
  startTicks: string;
}

/**
 * What these processes have started, and what that has started. Linux only; elsewhere none are found. A process whose parent
 * has ended is nobody's descendant: whoever ends the parent looks first. Synchronous, because at exit nothing can wait.
 */
export function descendantsOf(pids: readonly number[]): StartedProcess[] {
  const all = readProcesses();
  const found: StartedProcess[] = [];
  const ancestors = new Set(pids);
  let before = -1;
  while (before < found.length) {
    before = found.length;
    for (const { parent, ...one } of all) {
      if (!ancestors.has(parent) || ancestors.has(one.pid)) continue;
      ancestors.add(one.pid);
      found.push(one);
    }
  }
  return found;
}

/** Those of the processes that have not ended. */
export function notEnded(processes: readonly StartedProcess[]): StartedProcess[] {
  return processes.filter(({ pid, startTicks }) => readProcess(pid)?.startTicks === startTicks);
}

function readProcesses() {
  let names: string[] = [];
  try {
    names = readdirSync('/proc');
  } catch {
    // There is no /proc.
  }
  return names.flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
}

function readProcess(pid: number): (StartedProcess & { parent: number }) | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name before this is in parentheses, and may have any characters.
  const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTicks = rest[17];
  if (startTicks === undefined || state === 'Z') return undefined;
  return { pid, parent: Number(parent), startTicks };
}

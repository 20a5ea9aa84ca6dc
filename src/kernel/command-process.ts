import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { systemClock, waitUntil } from './clock.ts';
import { VoicectlError } from './errors.ts';
import { shortText } from './short-text.ts';
import { system } from './system.ts';

export interface CommandOptions extends Pick<SpawnOptions, 'cwd' | 'shell' | 'stdio'> {
  env?: Readonly<Record<string, string | undefined>>;
  /** Leaves the command in our process group, so that it can use our terminal. */
  sharesTerminal?: boolean;
}

/** How a command ended: with a code, or by a signal. */
export interface CommandEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A command of the user that runs. */
export interface CommandProcess {
  readonly child: ChildProcess;
  /** Resolves when it runs. Rejects with the system's error if it cannot run. */
  readonly started: Promise<void>;
  /** Resolves when the command itself has ended; never if it cannot run. */
  readonly ended: Promise<CommandEnd>;
  /** Sends a signal to the command and its process group. */
  signal(name: NodeJS.Signals): void;
  /**
   * Ends the command and everything that it started: with `signal`, by default SIGTERM, and after `graceMs` with
   * SIGKILL. Resolves when nothing of it is left, and our ends of its pipes are closed.
   */
  end(options?: { signal?: NodeJS.Signals; graceMs?: number }): Promise<void>;
  /** Lets processes that the command left behind continue. */
  release(): void;
}

/** From the first signal to SIGKILL: how long a command has to end. */
const commandGraceMs = 1_000;
/** The system needs a moment to remove processes that were killed. */
const goneMs = 500;
const lookEveryMs = 20;

/**
 * In the environment of everything that a command starts, with a value per command: a process is found by it even if it has
 * left the process group. It is not one of our settings, so that commands that must not see these may have it.
 */
const commandMark = 'RUN_BY_VOICECTL';
const ownMark = randomUUID();
let commands = 0;

/**
 * Starts a command of the user. It ends with this process, however that ends: its own process group, the mark in its
 * environment, its descendants (both Linux) and a watching process ensure that.
 */
export function startCommand(
  command: string,
  args: readonly string[],
  { env = process.env, sharesTerminal = false, ...options }: CommandOptions,
): CommandProcess {
  commands += 1;
  const mark = `${ownMark}.${commands}`;
  const hasGroup = !sharesTerminal && system.hasProcessGroups;
  const guard = holdGuard();
  const child = spawnAnyway(command, args, {
    ...options,
    env: { ...env, [commandMark]: mark },
    detached: hasGroup,
  });
  const { pid } = child;
  /** As the system takes it: negative for the whole group. */
  const target = pid === undefined ? undefined : hasGroup ? -pid : pid;
  let isRunning = pid !== undefined;
  const started = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (thrown) => {
      release();
      reject(thrown);
    });
  });
  // Not every caller awaits it.
  started.catch(() => {});
  const ended = new Promise<CommandEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      isRunning = false;
      resolve({ code, signal });
    });
  });
  // Pipes to a command that was killed are reset.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
  if (target !== undefined) guard.watch(target);
  let ending: Promise<void> | undefined;

  const isThere = () => isRunning || (hasGroup && target !== undefined && send(target, 0));
  const signalTo = (name: NodeJS.Signals) => {
    if (target === undefined || !isThere()) return;
    if (system.hasProcessGroups) send(target, name);
    // There any signal ends the command at once, and after that nothing leads to what it has started.
    else spawn('taskkill', ['/pid', String(pid), '/t', '/f']).on('error', () => {});
  };
  function release() {
    guard.release(target);
  }
  const endAll = async (signal: NodeJS.Signals, graceMs: number) => {
    const killAt = systemClock.now() + graceMs;
    const findDescendants = followDescendants(() => (isRunning && pid !== undefined ? [pid] : []));
    const findEscaped = async () => [...new Set([...findDescendants(), ...(await findMarked(mark))])];
    findDescendants();
    signalTo(signal);
    await until(() => !isThere(), graceMs);
    const escaped = await findEscaped();
    if (escaped.length > 0 && systemClock.now() < killAt) {
      for (const one of escaped) send(one, signal);
      await until(() => !escaped.some((one) => send(one, 0)), killAt - systemClock.now());
    }
    findDescendants();
    signalTo('SIGKILL');
    for (const one of await findEscaped()) send(one, 'SIGKILL');
    await until(() => !isThere(), goneMs);
    release();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  };
  return {
    child,
    started,
    ended,
    signal: signalTo,
    end({ signal = 'SIGTERM', graceMs = commandGraceMs } = {}) {
      ending ??= endAll(signal, graceMs);
      return ending;
    },
    release,
  };
}

/** A command that the system or Node refuses at once, such as too long a name, fails like one that is not found. */
function spawnAnyway(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(command, [...args], options);
  } catch (thrown) {
    // A child that was never started has undefined for streams, where null means none.
    const child = Object.assign(new ChildProcess(), { stdin: null, stdout: null, stderr: null });
    process.nextTick(() => child.emit('error', thrown));
    return child;
  }
}

/** The error for a command that does not start. */
export function cannotRun(command: string, cause: NodeJS.ErrnoException): VoicectlError {
  const why = cause.code === 'ENOENT' ? 'command not found' : cause.message;
  return new VoicectlError('usage', `Cannot run ${shortText(command)}: ${why}`, { cause });
}

/** False if there is no such process or group. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Waits for a change that the system does not report, but no longer than `longestMs`. */
async function until(isTrue: () => boolean, longestMs: number): Promise<void> {
  const end = systemClock.now() + longestMs;
  while (!isTrue() && systemClock.now() < end) await waitUntil(systemClock, systemClock.now() + lookEveryMs);
}

/**
 * Finds what is left of the descendants of a command each time that it is called: also those whose parents have ended since
 * the last call. Their environment may have been cleared.
 */
function followDescendants(command: () => readonly number[]): () => number[] {
  let known: StartedProcess[] = [];
  return () => {
    known = runningOf(known);
    known.push(...descendantsOf([...command(), ...known.map(({ pid }) => pid)]));
    return known.map(({ pid }) => pid);
  };
}

let reading: Promise<readonly Marked[]> | undefined;
let nextReading: Promise<readonly Marked[]> | undefined;

interface Marked {
  pid: number;
  environment: string;
}

/**
 * The processes that have this value of the mark in their environment. Linux only; elsewhere none are found. Commands that
 * end at the same time share one look at all processes.
 */
async function findMarked(mark: string): Promise<number[]> {
  nextReading ??= (reading ?? Promise.resolve()).then(() => {
    reading = readEnvironments();
    nextReading = undefined;
    return reading;
  });
  const entry = `${commandMark}=${mark}`;
  return (await nextReading)
    .filter(({ environment }) => environment.split('\0').includes(entry))
    .map(({ pid }) => pid);
}

async function readEnvironments(): Promise<Marked[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(
    pids.map(async (pid) => {
      // Processes of other users cannot be read, and some have ended in the meantime.
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return { pid, environment };
    }),
  );
  return all.filter(({ pid, environment }) => pid !== process.pid && environment.includes(ownMark));
}

/** What is running, as the system takes it: a process, or a group if negative. */
const running = new Set<number>();
let watcher: ChildProcess | undefined;
let holders = 0;

/**
 * Reads what is running until its input ends, because this process has ended in whatever way. Then it kills that, and on Linux
 * everything with our mark, and all descendants. It has its own session, so that nothing that ends this process ends
 * it. No `--` after `-9`: dash takes it for a process, and then kills none.
 */
const watchScript = `trap '' INT TERM HUP QUIT
all=
while read -r what pid; do
  case $what in
    +) all="$all $pid" ;;
    -) left=; for one in $all; do [ "$one" = "$pid" ] || left="$left $one"; done; all=$left ;;
  esac
done
pairs=
for stat in /proc/[0-9]*/stat; do
  read -r line <"$stat" || continue
  line=\${line##*) ?\\ }
  stat=\${stat#/proc/}
  pairs="$pairs \${line%% *}:\${stat%/stat}"
done
found=' '
for one in $all; do found="$found\${one#-} "; done
while :; do
  before=$found
  for pair in $pairs; do
    case $found in
      *" \${pair#*:} "*) ;;
      *" \${pair%:*} "*) found="$found\${pair#*:} " ;;
    esac
  done
  [ "$found" = "$before" ] && break
done
for one in $all $found; do kill -9 "$one"; done
for round in 1 2; do
  for one in $(grep -slz -- "^$1=$2[.]" /proc/[0-9]*/environ); do
    one=\${one#/proc/}
    kill -9 "\${one%/environ}"
  done
done`;

/** Watches over commands as long as one of them runs. */
function holdGuard() {
  let isHeld = true;
  holders += 1;
  if (holders === 1) startWatcher();
  return {
    watch(target: number) {
      running.add(target);
      notifyWatcher('+', target);
    },
    release(target: number | undefined) {
      if (!isHeld) return;
      isHeld = false;
      holders -= 1;
      if (target !== undefined) {
        running.delete(target);
        notifyWatcher('-', target);
      }
      if (holders === 0) stopWatcher();
    },
  };
}

function startWatcher(): void {
  process.once('exit', killRunning);
  if (!system.hasProcessGroups) return;
  const one = spawn('/bin/sh', ['-c', watchScript, 'sh', commandMark, ownMark], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
  });
  // Without a shell there is no watcher: then only SIGKILL leaves processes behind.
  one.on('error', () => {});
  one.stdin?.on('error', () => {});
  one.unref();
  (one.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  watcher = one;
}

function notifyWatcher(what: '+' | '-', target: number): void {
  watcher?.stdin?.write(`${what} ${target}\n`);
}

function stopWatcher(): void {
  process.off('exit', killRunning);
  watcher?.kill('SIGKILL');
  watcher?.stdin?.destroy();
  watcher = undefined;
}

/** At exit nothing can wait for commands any more. The watcher finds processes that have left their groups. */
function killRunning(): void {
  const started = descendantsOf([...running].map(Math.abs));
  for (const target of [...running, ...started.map(({ pid }) => pid)]) send(target, 'SIGKILL');
}

/** A process, and when it started: another one may have its number later. */
interface StartedProcess {
  pid: number;
  /** In ticks of the system's clock since it started. */
  startTicks: string;
}

/**
 * What these processes have started, and what that has started. Linux only; elsewhere none are found. A process whose parent
 * has ended is nobody's descendant: whoever ends the parent looks first. Synchronous, because at exit nothing can wait.
 */
function descendantsOf(pids: readonly number[]): StartedProcess[] {
  // Most commands have ended by now, and left nothing: reading all processes takes milliseconds.
  if (pids.length === 0) return [];
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
function runningOf(processes: readonly StartedProcess[]): StartedProcess[] {
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

import { VoicectlError } from '../../kernel/errors.ts';
import { createDeferred, whenAborted } from '../../kernel/promises.ts';
import type { ChildCommand, PrintedLine } from './child-command.ts';

/** An emulator or a proxy that runs. */
export interface RunningServer {
  id: string;
  kind: 'emulator' | 'proxy';
  baseUrl: string;
  wsUrl: string;
  child: ChildCommand;
  /** How often each type of event happened. */
  counts: ReadonlyMap<string, number>;
}

/** A client hardly needs more, and each is a process. */
const maxServers = 8;

/** The emulators and proxies that a client has started, by their ids. */
export interface Servers {
  /** Waits until it listens. Throws its error if it ends before that, and `usage` if there are too many. */
  start(
    kind: RunningServer['kind'],
    launch: (onLine: (line: PrintedLine) => void) => ChildCommand,
    signal: AbortSignal,
  ): Promise<RunningServer>;
  find(id: string): RunningServer | undefined;
  readonly ids: readonly string[];
  /** Stops it. Returns its exit code. */
  stop(id: string): Promise<number>;
  stopAll(): Promise<void>;
}

export function createServers(): Servers {
  const running = new Map<string, RunningServer>();
  const starting = new Set<ChildCommand>();
  let started = 0;
  return {
    async start(kind, launch, signal) {
      if (running.size + starting.size >= maxServers)
        throw new VoicectlError('usage', `${maxServers} emulators and proxies are already running`, {
          hint: `Stop one: ${[...running.keys()].join(', ')}.`,
        });
      const counts = new Map<string, number>();
      let failure: PrintedLine | undefined;
      const listening = createDeferred<PrintedLine>();
      signal.throwIfAborted();
      const child = launch((line) => {
        if (line.type === 'listening') listening.resolve(line);
        else if (line.type === 'error') failure = line;
        if (line.type !== undefined) counts.set(line.type, (counts.get(line.type) ?? 0) + 1);
      });
      starting.add(child);
      const cancelled = whenAborted(signal).then(() => 'cancelled' as const);
      try {
        const line = await Promise.race([listening.promise, child.ended, cancelled]);
        if (line === 'cancelled' || signal.aborted) {
          await child.end();
          throw signal.reason;
        }
        if (typeof line === 'number') throw startFailure(kind, line, failure, child);
        started += 1;
        const id = `${kind}-${started}`;
        const server = { id, kind, baseUrl: String(line.baseUrl), wsUrl: String(line.wsUrl), child, counts };
        running.set(id, server);
        void child.ended.catch(() => {}).finally(() => running.delete(id));
        return server;
      } finally {
        starting.delete(child);
      }
    },
    find: (id) => running.get(id),
    get ids() {
      return [...running.keys()];
    },
    async stop(id) {
      const server = running.get(id);
      if (server === undefined) return 0;
      await server.child.end();
      running.delete(id);
      return server.child.ended.catch(() => 0);
    },
    async stopAll() {
      const children = [...[...running.values()].map(({ child }) => child), ...starting];
      await Promise.all(children.map((child) => child.end()));
      running.clear();
    },
  };
}

function startFailure(
  kind: string,
  exitCode: number,
  line: PrintedLine | undefined,
  child: ChildCommand,
): VoicectlError {
  const message = typeof line?.message === 'string' ? line.message : child.errors();
  const hint = typeof line?.hint === 'string' ? line.hint : undefined;
  return new VoicectlError('usage', `The ${kind} did not start: ${message}`, { hint, details: { exitCode } });
}

import { createServer, type Server, type Socket } from 'node:net';
import { hasten } from './hasten.ts';
import { startInProcess } from './in-process.ts';
import type { ManualClock } from './manual-clock.ts';

/**
 * A program for shells that is not started: it hands its words and its environment to this process, which runs the built
 * program and hands back what that prints and its exit code. Who ends it ends that: with SIGTERM. It reads no input, and
 * what starts the programs of others is the real one, because they have its streams.
 */
export interface ShellHere {
  /** The text of the stand-in, for a file that can be executed. */
  readonly script: string;
  close(): void;
}

/**
 * Serves the calls of stand-ins until it is closed. `program` is the path of the real one. A clock is moved as fast as it
 * can be while a program runs.
 */
export async function createShellHere(program: string, clock?: ManualClock): Promise<ShellHere> {
  /** What waits for the two connections that take the output of a call, by their names. */
  const outputs = new Map<string, (socket: Socket) => void>();
  const sockets = new Set<Socket>();
  let calls = 0;

  const run = async (control: Socket, words: readonly string[], env: Record<string, string>) => {
    calls += 1;
    const id = String(calls);
    const [stdout, stderr] = ['out', 'err'].map(
      (name) => new Promise<Socket>((resolve) => outputs.set(`${id} ${name}`, resolve)),
    ) as [Promise<Socket>, Promise<Socket>];
    control.write(`${id}\n`);
    const taken = await Promise.all([stdout, stderr]);
    const running = startInProcess(words, {
      env,
      ...(clock && { clock }),
      onOutput: (stream, data) => void taken[stream === 'stdout' ? 0 : 1].write(data),
    });
    control.once('close', () => running.signal('SIGTERM'));
    const ended = clock === undefined ? running.ended : hasten(clock, running.ended);
    const code = await ended.then(
      (ended) => ended.code,
      (thrown: Error) => {
        taken[1].write(`${thrown.stack}\n`);
        return 70;
      },
    );
    for (const socket of taken) socket.end();
    control.end(`${code}\n`);
  };

  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('close', () => sockets.delete(socket));
    let said = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]);
      const [first = '', ...rest] = said.toString().split('\0');
      // An empty entry of the environment ends what a stand-in says; the last piece is not whole.
      const end = rest.indexOf('', Number(first) || 0);
      if (end < 0 || end === rest.length - 1) return;
      socket.off('data', read);
      const output = outputs.get(first);
      if (output !== undefined) {
        output(socket);
        return;
      }
      const env = rest.slice(Number(first), end).map((entry) => entry.split(/=(.*)/s).slice(0, 2));
      void run(socket, rest.slice(0, Number(first)), Object.fromEntries(env));
    };
    socket.on('data', read);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const at = `/dev/tcp/127.0.0.1/${port}`;
  return {
    script: `#!/usr/bin/env bash
case $1 in exec) exec '${process.execPath}' '${program}' "$@" ;; esac
exec 3<>${at}
{ printf '%s\\0' "$#" "$@"; env -0; printf '\\0'; } >&3
read -r id <&3
exec 4<>${at} 5<>${at}
printf '%s out\\0\\0' "$id" >&4
printf '%s err\\0\\0' "$id" >&5
cat <&4 3>&- 5>&- & cat <&5 >&2 3>&- 4>&- &
read -r code <&3
wait
exit "$code"
`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

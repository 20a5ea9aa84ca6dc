import { createWatch } from './watch.ts';

export interface Ended {
  /** The exit status; for a process that a signal ended 128 and its number, as a shell says it. */
  code: number;
  stdout: string;
  stderr: string;
  stdoutBytes: Buffer;
}

/** A program that runs, in a process of its own or in this one. */
export interface Program {
  readonly ended: Promise<Ended>;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves with the first whole line of either stream that `matches`; rejects when the program ends without one. */
  line(matches: RegExp): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** Remembers all that a program says, until it has ended. */
export function createSaid() {
  const watch = createWatch();
  const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let end: Ended | undefined;
  const text = (stream: keyof typeof said) => Buffer.concat(said[stream]).toString();
  return {
    note(stream: keyof typeof said, data: Buffer): void {
      said[stream].push(data);
      watch.changed();
    },
    end(code: number): void {
      const stdoutBytes = Buffer.concat(said.stdout);
      end = { code, stdout: stdoutBytes.toString(), stderr: text('stderr'), stdoutBytes };
      watch.changed();
    },
    ended: () => watch.until(() => end),
    text,
    line: (matches: RegExp) =>
      watch.until(() => {
        const found = (['stdout', 'stderr'] as const)
          .flatMap((stream) => text(stream).split('\n').slice(0, -1))
          .find((line) => matches.test(line));
        if (found === undefined && end !== undefined)
          throw new Error(
            `it ended with ${end.code} and never said ${matches}: ${text('stdout')}\n${text('stderr')}`,
          );
        return found;
      }),
  };
}

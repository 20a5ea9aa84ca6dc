import { StringDecoder } from 'node:string_decoder';
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
  /** The whole lines, as far as somebody has looked for one, and what is after them. */
  const read = { stdout: createLines(), stderr: createLines() };
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
    line(matches: RegExp) {
      const looked = { stdout: 0, stderr: 0 };
      return watch.until(() => {
        for (const stream of ['stdout', 'stderr'] as const) {
          const lines = read[stream](said[stream]);
          const found = lines.slice(looked[stream]).find((line) => matches.test(line));
          looked[stream] = lines.length;
          if (found !== undefined) return found;
        }
        if (end !== undefined)
          throw new Error(
            `it ended with ${end.code} and never said ${matches}: ${text('stdout')}\n${text('stderr')}`,
          );
        return undefined;
      });
    },
  };
}

/** Reads the whole lines of a stream; what was read before is not read again. */
function createLines() {
  const decoder = new StringDecoder();
  const lines: string[] = [];
  let rest = '';
  let chunks = 0;
  return (said: readonly Buffer[]): readonly string[] => {
    const [first = '', ...more] = said
      .slice(chunks)
      .map((chunk) => decoder.write(chunk))
      .join('')
      .split('\n');
    chunks = said.length;
    rest += first;
    for (const line of more) {
      lines.push(rest);
      rest = line;
    }
    return lines;
  };
}

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Io } from '../../../kernel/io.ts';

/** The lines that somebody types, or that come through a pipe. */
export interface TypedInput extends AsyncIterable<string> {
  /** Prints a line above the one that is being typed. */
  print(line: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads lines from now on: on a terminal with editing and history, and with the typed line kept below what is printed.
 * `onInterrupt`: Ctrl-C.
 */
export function openTypedInput(
  { stdin, stdout, terminal }: Pick<Io, 'stdin' | 'stdout' | 'terminal'>,
  { isTerminal, onInterrupt }: { isTerminal: boolean; onInterrupt: () => void },
): TypedInput {
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      stdout.write(text.toString()).then(() => done(), done);
    },
  });
  // The writer of the line is told too.
  output.on('error', () => {});
  // Readline asks for the width of lines.
  Object.defineProperty(output, 'columns', { get: () => terminal?.columns });
  const lines = createInterface({
    input: stdin,
    ...(isTerminal ? { output, terminal: true, prompt: '> ' } : { terminal: false }),
  });
  lines.on('SIGINT', onInterrupt);
  // Lines that come before somebody asks for them are kept by the iterator alone.
  const iterator = lines[Symbol.asyncIterator]();
  // Everything goes through one queue: an echoed key must not overtake a line.
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      output.write(text, (error) => (error ? reject(error) : resolve()));
    });
  return {
    print(line) {
      if (!isTerminal) return write(`${line}\n`);
      const written = write(`\r\u001b[K${line}\n`);
      lines.prompt(true);
      return written;
    },
    async *[Symbol.asyncIterator]() {
      if (isTerminal) lines.prompt();
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        yield next.value;
        if (isTerminal) lines.prompt();
      }
    },
    async close() {
      lines.close();
      if (isTerminal) await write('\r\u001b[K').catch(() => {});
    },
  };
}
